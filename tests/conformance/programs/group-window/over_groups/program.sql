-- Windows of old over GROUP BY, DISTINCT and set operations: the time attribute that rows are grouped by goes on being one.
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
CREATE TABLE groups (
  `ws` TIMESTAMP(3),
  `c` INT
) WITH ('connector' = 'print');

CREATE TABLE sessions (
  `ws` TIMESTAMP(3),
  `k` STRING,
  `c` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE cascade (
  `wt` TIMESTAMP(3),
  `c` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE others (
  `ws` TIMESTAMP(3),
  `c` BIGINT
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET
BEGIN
INSERT INTO groups
SELECT TUMBLE_START(ts, INTERVAL '10' SECOND) AS ws, SUM(x) AS c FROM (SELECT ts, k, SUM(v) AS x FROM ev GROUP BY ts, k) GROUP BY TUMBLE(ts, INTERVAL '10' SECOND);
INSERT INTO sessions
SELECT SESSION_START(ts, INTERVAL '3' SECOND) AS ws, k, COUNT(*) AS c FROM (SELECT DISTINCT k, ts FROM ev) GROUP BY k, SESSION(ts, INTERVAL '3' SECOND);
INSERT INTO cascade
SELECT TUMBLE_ROWTIME(ts, INTERVAL '10' SECOND) AS wt, COUNT(*) AS c FROM (SELECT k, ts, COUNT(*) AS n FROM ev GROUP BY k, ts) WHERE n < 2 GROUP BY TUMBLE(ts, INTERVAL '10' SECOND);
INSERT INTO others
SELECT TUMBLE_START(ts, INTERVAL '10' SECOND) AS ws, COUNT(*) AS c FROM (SELECT k, ts FROM ev EXCEPT SELECT k, ts FROM ev WHERE v > 2) GROUP BY TUMBLE(ts, INTERVAL '10' SECOND);
END;
