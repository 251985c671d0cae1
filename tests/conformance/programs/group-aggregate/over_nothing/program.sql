-- Aggregates without keys over what is known to be empty: one row, as if it had been a table of no rows.
CREATE TABLE t (
  a INT,
  s STRING,
  b BOOLEAN,
  d DECIMAL(10, 2)
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/t.jsonl',
  'format' = 'json'
);
CREATE TABLE sink (
  name STRING,
  n BIGINT,
  total INT,
  least STRING,
  greatest DECIMAL(10, 2),
  mean INT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT 'constant' AS name, COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE FALSE
UNION ALL SELECT 'compared constants' AS name, COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE 1 = 2
UNION ALL SELECT 'null' AS name, COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE a = CAST(NULL AS INT)
UNION ALL SELECT 'range' AS name, COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE a > 5 AND a < 1
UNION ALL SELECT 'half open' AS name, COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE a >= 5 AND a < 5
UNION ALL SELECT 'itself' AS name, COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE a + 1 <> a + 1
UNION ALL SELECT 'null and more' AS name, COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE a IS NULL AND a > 3
UNION ALL SELECT 'members' AS name, COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE a IN (1, 2) AND a NOT IN (1, 2)
UNION ALL SELECT 'or' AS name, COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE (a < 1 OR a > 5) AND a = 3
UNION ALL SELECT 'not' AS name, COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE b AND NOT b
UNION ALL SELECT 'texts' AS name, COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE UPPER(s) = 'A' AND UPPER(s) = 'B'
UNION ALL SELECT 'some rows' AS name, COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE a > 1
UNION ALL SELECT 'limit', COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM (SELECT * FROM t LIMIT 0)
UNION ALL SELECT 'join', COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM (SELECT x.a, x.s, x.d FROM (SELECT * FROM t WHERE FALSE) AS x JOIN t ON x.a = t.a)
UNION ALL SELECT 'outer join', COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM (SELECT x.a, x.s, x.d FROM (SELECT * FROM t WHERE FALSE) AS x LEFT JOIN t ON x.a = t.a)
UNION ALL SELECT 'padded', COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM (SELECT t.a, t.s, t.d FROM t LEFT JOIN (SELECT * FROM t WHERE FALSE) AS x ON x.a = t.a)
UNION ALL SELECT 'exists', COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM (SELECT * FROM t WHERE EXISTS (SELECT * FROM t WHERE FALSE))
UNION ALL SELECT 'union', COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM (SELECT * FROM t WHERE FALSE UNION ALL SELECT * FROM t WHERE 1 = 2)
UNION ALL SELECT 'groups', COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM (SELECT a, MAX(s) AS s, MAX(d) AS d FROM t WHERE FALSE GROUP BY a)
UNION ALL SELECT 'no group', COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM (SELECT * FROM t WHERE FALSE GROUP BY a, s, b, d)
UNION ALL SELECT 'rollup', COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM (SELECT a, MAX(s) AS s, MAX(d) AS d FROM t WHERE FALSE GROUP BY ROLLUP (a))
UNION ALL SELECT 'behind', COUNT(*) + 1, SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE FALSE HAVING COUNT(*) = 0
UNION ALL SELECT 'grouping set', COUNT(*), SUM(a), MIN(s), MAX(d), AVG(a) FROM t WHERE FALSE GROUP BY ();
