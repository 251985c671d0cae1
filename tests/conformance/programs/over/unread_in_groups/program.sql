-- An OVER below a group window is not computed where the aggregate does not read it.

CREATE TABLE ev (
  id BIGINT,
  k STRING,
  v INT,
  s STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '0' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/ev.jsonl',
  'format' = 'json'
);

CREATE TABLE sink (
  `k` STRING,
  `ws` TIMESTAMP(3),
  `c` BIGINT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT k, TUMBLE_START(ts, INTERVAL '5' SECOND) AS ws, COUNT(*) AS c FROM (SELECT *, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS total FROM ev) GROUP BY k, TUMBLE(ts, INTERVAL '5' SECOND);
