-- Two queries read one OVER input under other names.

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
  `c1` BIGINT,
  `c2` STRING,
  `ts` TIMESTAMP(3)
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT c1, c2, ts FROM (SELECT id AS c1, k AS c2, v AS c3, ts FROM ev) AS e WHERE c3 IN (SELECT o FROM (SELECT SUM(v) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS o, COUNT(*) OVER (ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS n FROM (SELECT id AS c1, k AS c2, v, ts FROM ev)) WHERE n > 1);
