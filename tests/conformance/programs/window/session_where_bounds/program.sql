-- WHERE over bounds of sessions: all rows make the sessions.

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
SELECT k, window_start, window_end, COUNT(*) AS c FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) WHERE v > 2 AND window_start > TIMESTAMP '2024-01-01 00:00:10' GROUP BY k, window_start, window_end;
