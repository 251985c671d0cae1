-- WHERE over the table function SESSION decides which rows the sessions of an aggregate are of.

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
  `window_start` TIMESTAMP(3),
  `window_end` TIMESTAMP(3),
  `c` BIGINT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT k, window_start, window_end, COUNT(*) AS c FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) WHERE v BETWEEN -2 AND 17 GROUP BY k, window_start, window_end;
