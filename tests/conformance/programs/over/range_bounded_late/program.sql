-- RANGE so many seconds back: keys are forgotten by a timer of their own, which also decides about late rows.
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

CREATE TABLE sink (k STRING, ts TIMESTAMP(3), a INT, m DECIMAL(6, 2), x DECIMAL(6, 2)) WITH ('connector' = 'print');

INSERT INTO sink
SELECT k, ts, AVG(v) OVER w AS a, MIN(d) OVER w AS m, MAX(d) OVER w AS x FROM ticks WINDOW w AS (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '4' SECOND PRECEDING AND CURRENT ROW);
