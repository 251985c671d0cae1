-- EXCEPT ALL of two aggregates over windows.

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
  `window_end` TIMESTAMP(3),
  `k` STRING,
  `c` BIGINT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT window_start, window_end, k, c FROM everything
EXCEPT ALL
SELECT window_start, window_end, k, c FROM large;
