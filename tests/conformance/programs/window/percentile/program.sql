-- PERCENTILE with and without a frequency in a window.

CREATE TABLE ticks (
  k STRING,
  ts TIMESTAMP(3),
  v INT,
  d DECIMAL(6, 2),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/ticks.jsonl',
  'format' = 'json'
);

CREATE TABLE answers (
  `window_start` TIMESTAMP(3),
  `window_end` TIMESTAMP(3),
  `p` DOUBLE,
  `q` DOUBLE
) WITH ('connector' = 'print');

INSERT INTO answers
SELECT window_start, window_end, PERCENTILE(v, 0.5, v) AS p, PERCENTILE(v, 0.5) AS q
FROM TABLE(TUMBLE(TABLE ticks, DESCRIPTOR(ts), INTERVAL '5' SECOND))
GROUP BY window_start, window_end;
