-- An OVER that the projection above it does not read is not computed, so that late rows stay.

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
SELECT k, ts, v + 1 AS w FROM (SELECT *, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS total FROM ev);
