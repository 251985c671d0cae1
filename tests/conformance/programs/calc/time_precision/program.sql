-- Timestamps of nanoseconds: a column that is not read keeps its place; those that are read are cut to microseconds.

SET 'table.exec.source.time-precision-enforcer' = 'TRIM';

CREATE TABLE w (
  id INT,
  unread TIMESTAMP(9),
  ts TIMESTAMP(9),
  r ROW<l TIMESTAMP_LTZ(9)>,
  s AS CAST(ts AS TIMESTAMP(3))
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/w.jsonl',
  'format' = 'json'
);

CREATE TABLE sink (
  `id` INT,
  `ts` STRING,
  `l` STRING,
  `s` STRING,
  `before` BOOLEAN
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT id, CAST(CAST(ts AS TIMESTAMP(6)) AS STRING) AS ts, CAST(CAST(r.l AS TIMESTAMP_LTZ(6)) AS STRING) AS l,
  CAST(s AS STRING) AS s, ts < TIMESTAMP '2020-01-01 00:00:01' AS `before` FROM w;
