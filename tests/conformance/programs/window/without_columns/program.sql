-- Windows of which nobody reads a column: a row for each of them all the same.
CREATE TABLE ev (
  k STRING,
  v INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/ev.jsonl',
  'format' = 'json'
);
CREATE TABLE tumbles (
  `n` INT
) WITH ('connector' = 'print');

CREATE TABLE hops (
  `n` INT
) WITH ('connector' = 'print');

CREATE TABLE cumulates (
  `n` INT
) WITH ('connector' = 'print');

CREATE TABLE sessions (
  `n` INT
) WITH ('connector' = 'print');

CREATE TABLE session_keys (
  `n` INT
) WITH ('connector' = 'print');

CREATE TABLE group_tumbles (
  `n` INT
) WITH ('connector' = 'print');

CREATE TABLE group_sessions (
  `n` INT
) WITH ('connector' = 'print');

CREATE TABLE best (
  `n` INT
) WITH ('connector' = 'print');

CREATE TABLE windows (
  `n` INT
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET BEGIN
INSERT INTO tumbles SELECT 1 FROM (SELECT COUNT(*) AS n, window_start FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end);
INSERT INTO hops SELECT 1 FROM (SELECT SUM(v) AS n, window_end FROM TABLE(HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE)) GROUP BY window_start, window_end);
INSERT INTO cumulates SELECT 1 FROM (SELECT k, COUNT(*) AS n FROM TABLE(CUMULATE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '3' MINUTE)) GROUP BY k, window_start, window_end);
INSERT INTO sessions SELECT 1 FROM (SELECT COUNT(*) AS n, window_start FROM TABLE(SESSION(TABLE ev, DESCRIPTOR(ts), INTERVAL '20' SECOND)) GROUP BY window_start, window_end);
INSERT INTO session_keys SELECT 1 FROM (SELECT COUNT(*) AS n, k FROM TABLE(SESSION(TABLE ev PARTITION BY k, DESCRIPTOR(ts), INTERVAL '20' SECOND)) GROUP BY k, window_start, window_end);
INSERT INTO group_tumbles SELECT 1 FROM (SELECT COUNT(*) AS n FROM ev GROUP BY TUMBLE(ts, INTERVAL '1' MINUTE));
INSERT INTO group_sessions SELECT 1 FROM (SELECT MAX(v) AS n FROM ev GROUP BY SESSION(ts, INTERVAL '20' SECOND));
INSERT INTO best SELECT 1 FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) AS n FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE))) WHERE n <= 2;
INSERT INTO windows SELECT CAST(COUNT(*) AS INT) FROM (SELECT COUNT(*) AS n, window_start FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '1' MINUTE)) GROUP BY window_start, window_end);
END;
