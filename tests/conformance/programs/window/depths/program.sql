-- Windows whose rows come behind one another meet: a union, a join and ranks of what comes from sources, windows, and windows of windows.
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
  k STRING,
  ts TIMESTAMP(3),
  w INT,
  WATERMARK FOR ts AS ts - INTERVAL '3' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/rights.jsonl',
  'format' = 'json'
);
CREATE TABLE summed (window_end TIMESTAMP(3), n BIGINT, total BIGINT) WITH ('connector' = 'print');
CREATE TABLE ranked (window_end TIMESTAMP(3), k STRING, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE most (window_end TIMESTAMP(3), k STRING, v INT, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE alone (window_end TIMESTAMP(3), k STRING) WITH ('connector' = 'print');
CREATE VIEW ls AS SELECT * FROM TABLE(TUMBLE(TABLE lefts, DESCRIPTOR(ts), INTERVAL '10' SECOND));
CREATE VIEW counts AS SELECT k, COUNT(*) AS n, window_start, window_end FROM TABLE(TUMBLE(TABLE lefts, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end;
CREATE VIEW greatest_counts AS SELECT MAX(n) AS n, window_start, window_end FROM counts GROUP BY window_start, window_end;
CREATE VIEW several AS
SELECT 'each' AS k, n, window_start, window_end FROM counts
UNION ALL SELECT 'most' AS k, n, window_start, window_end FROM greatest_counts
UNION ALL SELECT k, CAST(v AS BIGINT) AS n, window_start, window_end FROM ls;

EXECUTE STATEMENT SET
BEGIN
INSERT INTO summed
SELECT window_end, COUNT(*), SUM(n) FROM several GROUP BY window_start, window_end;
INSERT INTO ranked
SELECT window_end, k, n FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY n DESC, k) AS rn FROM several) WHERE rn <= 2;
INSERT INTO most
SELECT l.window_end, l.k, l.v, g.n FROM ls AS l LEFT JOIN greatest_counts AS g ON l.window_start = g.window_start AND l.window_end = g.window_end AND l.v >= g.n;
INSERT INTO alone
SELECT r.window_end, r.k FROM TABLE(TUMBLE(TABLE rights, DESCRIPTOR(ts), INTERVAL '10' SECOND)) AS r WHERE NOT EXISTS
(SELECT * FROM (SELECT k, MAX(n) AS n, window_start, window_end FROM counts GROUP BY k, window_start, window_end) AS c WHERE c.k = r.k AND c.window_start = r.window_start AND c.window_end = r.window_end);
END;
