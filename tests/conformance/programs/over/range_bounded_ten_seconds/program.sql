-- RANGE ten seconds back, late rows among them.
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

CREATE TABLE sink (k STRING, ts TIMESTAMP(3), s INT, c BIGINT) WITH ('connector' = 'print');

INSERT INTO sink
SELECT k, ts, SUM(v) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW) AS s, COUNT(d) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '10' SECOND PRECEDING AND CURRENT ROW) AS c FROM ticks;
