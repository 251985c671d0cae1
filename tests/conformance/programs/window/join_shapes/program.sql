-- Window joins of all kinds and windows, what is joined and aggregated behind them, INTERSECT and EXCEPT of windowed rows.
CREATE TABLE lefts (
  k STRING,
  ts TIMESTAMP(3),
  v INT,
  WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/lefts.jsonl',
  'format' = 'json'
);
CREATE TABLE rights (
  ts TIMESTAMP(3),
  k STRING,
  w INT,
  WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/rights.jsonl',
  'format' = 'json'
);
CREATE TABLE semi (k STRING, v INT, window_end TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE rightmost (v INT, w INT, window_end TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE conditions (v INT, w INT, window_end TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE padded (v INT, w INT, k STRING) WITH ('connector' = 'print');
CREATE TABLE hopping (v INT, w INT, window_start TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE cumulating (k STRING, v INT, w INT, window_end TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE sessions (v INT, w INT, window_start TIMESTAMP(3), window_end TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE counted (window_start TIMESTAMP(3), n BIGINT, total INT) WITH ('connector' = 'print');
CREATE TABLE wider (window_start TIMESTAMP(3), n BIGINT) WITH ('connector' = 'print');
CREATE TABLE ranked (k STRING, w INT, window_end TIMESTAMP(3), rn BIGINT) WITH ('connector' = 'print');
CREATE TABLE three (k STRING, v INT, w INT, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE aggregates (k STRING, n BIGINT, m INT, window_end TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE nulls (k STRING, v INT, w INT) WITH ('connector' = 'print');
CREATE TABLE common (k STRING, window_end TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE missing (k STRING, window_end TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE sums (k STRING, s INT) WITH ('connector' = 'print');
CREATE VIEW ls AS SELECT * FROM TABLE(TUMBLE(TABLE lefts, DESCRIPTOR(ts), INTERVAL '10' SECOND));
CREATE VIEW rs AS SELECT * FROM TABLE(TUMBLE(TABLE rights, DESCRIPTOR(ts), INTERVAL '10' SECOND));

EXECUTE STATEMENT SET
BEGIN
INSERT INTO semi
SELECT k, v, window_end FROM ls AS l WHERE k IN (SELECT k FROM rs AS r WHERE l.window_start = r.window_start AND l.window_end = r.window_end);
INSERT INTO rightmost
SELECT l.v, r.w, r.window_end FROM ls AS l RIGHT JOIN rs AS r ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end;
INSERT INTO conditions
SELECT l.v, r.w, l.window_end FROM ls AS l, rs AS r WHERE l.window_start = r.window_start AND l.window_end = r.window_end AND l.v * 10 > r.w AND l.ts < r.ts;
INSERT INTO padded
SELECT l.v, r.w, l.k FROM ls AS l LEFT JOIN rs AS r ON l.window_start = r.window_start AND l.window_end = r.window_end AND l.k = r.k AND r.w > 20 AND l.v <> 8;
INSERT INTO hopping
SELECT l.v, r.w, l.window_start FROM TABLE(HOP(TABLE lefts, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) AS l
FULL JOIN TABLE(HOP(TABLE rights, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) AS r ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end;
INSERT INTO cumulating
SELECT l.k, l.v, r.w, r.window_end FROM TABLE(CUMULATE(TABLE lefts, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) AS l
JOIN TABLE(CUMULATE(TABLE rights, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) AS r ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end;
INSERT INTO sessions
SELECT l.v, r.v, l.window_start, r.window_end FROM TABLE(SESSION(TABLE lefts PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) AS l
LEFT JOIN TABLE(SESSION(TABLE lefts PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' SECOND)) AS r ON l.k = r.k AND l.v < r.v AND l.window_start = r.window_start AND l.window_end = r.window_end;
INSERT INTO counted
SELECT l.window_start, COUNT(*), SUM(r.w) FROM ls AS l JOIN rs AS r ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end GROUP BY l.window_start, l.window_end;
INSERT INTO wider
SELECT window_start, COUNT(*) FROM TABLE(TUMBLE((SELECT r.window_time AS wt, l.v FROM ls AS l JOIN rs AS r ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end), DESCRIPTOR(wt), INTERVAL '20' SECOND)) GROUP BY window_start, window_end;
INSERT INTO ranked
SELECT k, w, we, rn FROM (SELECT l.k, r.w, l.window_end AS we, ROW_NUMBER() OVER (PARTITION BY l.window_start, l.window_end ORDER BY r.w DESC, l.v) AS rn FROM ls AS l JOIN rs AS r ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end) WHERE rn <= 2;
INSERT INTO three
SELECT l.k, l.v, r.w, x.n FROM ls AS l LEFT JOIN rs AS r ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end
JOIN (SELECT k, COUNT(*) AS n, window_start, window_end FROM TABLE(TUMBLE(TABLE lefts, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end) AS x
ON l.k = x.k AND l.window_start = x.window_start AND l.window_end = x.window_end;
INSERT INTO aggregates
SELECT l.k, l.n, r.m, l.window_end FROM (SELECT k, COUNT(*) AS n, window_start, window_end FROM TABLE(TUMBLE(TABLE lefts, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end) AS l
FULL JOIN (SELECT k, MAX(w) AS m, window_start, window_end FROM TABLE(TUMBLE(TABLE rights, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end) AS r
ON l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end;
INSERT INTO nulls
SELECT l.k, l.v, r.w FROM ls AS l JOIN rs AS r ON l.k IS NOT DISTINCT FROM r.k AND l.window_start = r.window_start AND l.window_end = r.window_end;
INSERT INTO common
SELECT k, window_end FROM (SELECT k, window_start, window_end FROM ls INTERSECT SELECT k, window_start, window_end FROM rs);
INSERT INTO missing
SELECT k, window_end FROM (SELECT k, window_start, window_end FROM ls EXCEPT SELECT k, window_start, window_end FROM rs);
INSERT INTO sums
SELECT k, SUM(v) OVER (PARTITION BY k ORDER BY wt) FROM (SELECT l.k, l.v, l.window_time AS wt FROM ls AS l WHERE EXISTS (SELECT * FROM rs AS r WHERE l.k = r.k AND l.window_start = r.window_start AND l.window_end = r.window_end));
END;
