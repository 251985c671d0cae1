-- SESSION beside GROUPING SETS: sessions are found among the copies of rows, where a key that a set leaves out is NULL; conditions stand below.
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
CREATE TABLE rolled_up (
  `window_start` TIMESTAMP(3),
  `window_end` TIMESTAMP(3),
  `k` STRING,
  `g` BIGINT,
  `c` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE filtered (
  `window_start` TIMESTAMP(3),
  `window_end` TIMESTAMP(3),
  `k` STRING,
  `c` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE of_others (
  `window_start` TIMESTAMP(3),
  `window_end` TIMESTAMP(3),
  `s` STRING,
  `x` INT
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET
BEGIN
INSERT INTO rolled_up
SELECT window_start, window_end, k, GROUPING(k) AS g, COUNT(*) AS c FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY window_start, window_end, ROLLUP (k);
INSERT INTO filtered
SELECT window_start, window_end, k, COUNT(*) AS c FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) WHERE v > 1 GROUP BY window_start, window_end, ROLLUP (k);
INSERT INTO of_others
SELECT window_start, window_end, s, SUM(v) AS x FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) GROUP BY window_start, window_end, GROUPING SETS ((s), ());
END;
