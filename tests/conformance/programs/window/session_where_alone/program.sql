-- WHERE over the table function SESSION alone: all rows make the sessions.

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
  `id` BIGINT,
  `window_start` TIMESTAMP(3),
  `window_end` TIMESTAMP(3)
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT id, window_start, window_end FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) WHERE v BETWEEN -2 AND 17;
