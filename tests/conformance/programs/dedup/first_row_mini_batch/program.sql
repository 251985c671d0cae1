-- First row of each key in mini-batches: given at once, and replaced by an older row, however late.
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.size' = '100';
SET 'table.exec.mini-batch.allow-latency' = '1 s';
CREATE TABLE ev (
  k STRING,
  ts TIMESTAMP(3),
  v INT,
  s STRING,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/ev.jsonl',
  'format' = 'json'
);
CREATE TABLE sink (
  `k` STRING,
  `ts` TIMESTAMP(3),
  `v` INT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT k, ts, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts ASC) AS rn FROM ev) WHERE rn = 1;
