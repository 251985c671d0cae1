-- Rows that bounded OVER takes although they are late come behind the watermark to the sessions above, which drop them if they are over.

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

CREATE VIEW totals AS
SELECT *, SUM(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 4 PRECEDING AND CURRENT ROW) AS total FROM ev;

CREATE TABLE sink (
  `s` STRING,
  `window_start` TIMESTAMP(3),
  `window_end` TIMESTAMP(3),
  `c` BIGINT,
  `m` INT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT s, window_start, window_end, COUNT(DISTINCT v) AS c, MAX(total) AS m FROM TABLE(SESSION(TABLE totals PARTITION BY s, DESCRIPTOR(ts), INTERVAL '2' SECOND)) GROUP BY s, window_start, window_end;
