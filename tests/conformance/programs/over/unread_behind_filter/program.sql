-- An OVER that nobody reads is computed all the same where a filter stands above it: it drops late rows.

CREATE TABLE ev (
  id BIGINT,
  k STRING,
  v INT,
  s STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/ev.jsonl',
  'format' = 'json'
);

CREATE TABLE sink (
  `k` STRING,
  `ts` TIMESTAMP(3),
  `w` INT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT k, ts, v + 1 AS w FROM (SELECT *, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS total FROM ev) WHERE v > 3;
