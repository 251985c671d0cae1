-- PERCENTILE with a frequency OVER: values that are NULL count for nothing.

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
  `k` STRING,
  `ts` TIMESTAMP(3),
  `p` DOUBLE
) WITH ('connector' = 'print');

INSERT INTO answers
SELECT k, ts, PERCENTILE(v, 0.5, 2) OVER (PARTITION BY k ORDER BY ts) AS p FROM ticks;
