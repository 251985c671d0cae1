-- Groups over an INTERSECT of two aggregates over windows.

CREATE TABLE ev (
  k STRING,
  v INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '0' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/ev.jsonl',
  'format' = 'json'
);

CREATE VIEW everything AS
SELECT window_start, window_end, k, COUNT(*) AS c
FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY window_start, window_end, k;

CREATE VIEW large AS
SELECT window_start, window_end, k, COUNT(*) AS c
FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND))
WHERE v > 5
GROUP BY window_start, window_end, k;

CREATE TABLE sink (
  `window_start` TIMESTAMP(3),
  `n` BIGINT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT window_start, COUNT(*) AS n
FROM (SELECT window_start, window_end, k FROM everything INTERSECT SELECT window_start, window_end, k FROM large)
GROUP BY window_start, window_end;
