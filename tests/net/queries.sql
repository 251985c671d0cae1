-- Queries that are recorded: their name, their mode, and the SQL. One may be added at any time.

-- stateless: streaming
SELECT 'calc' AS q, UPPER(k) AS x, CAST(v * 2 AS STRING) AS y FROM t WHERE v IS NULL OR v > 1
UNION ALL
SELECT 'values', x, CAST(y AS STRING) FROM (VALUES ('x', 9), (CAST(NULL AS STRING), 1)) AS w (x, y)
UNION ALL
SELECT 'sets', k, CAST(COUNT(*) AS STRING) FROM t GROUP BY GROUPING SETS ((k), (s), ())
UNION ALL
SELECT 'TUMBLE', k, CONCAT(CAST(window_start AS STRING), ' ', CAST(window_end AS STRING)) FROM TABLE(TUMBLE(TABLE t,
  DESCRIPTOR(ts), INTERVAL '10' SECOND))
UNION ALL
SELECT 'HOP', k, CONCAT(CAST(window_start AS STRING), ' ', CAST(window_end AS STRING)) FROM TABLE(HOP(TABLE t,
  DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND))
UNION ALL
SELECT 'CUMULATE', k, CONCAT(CAST(window_start AS STRING), ' ', CAST(window_end AS STRING)) FROM
  TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND))

-- changes: streaming
SELECT id, UPPER(n) AS n, v FROM c

-- unnested: streaming
SELECT 'unnest' AS q, k AS x, CAST(e AS STRING) AS y FROM t CROSS JOIN UNNEST(a) AS u (e)
UNION ALL
SELECT 'left', k, CAST(e AS STRING) FROM t LEFT JOIN UNNEST(a) AS u (e) ON TRUE

-- unnested on: streaming
SELECT 'on' AS q, k AS x, CAST(e AS STRING) AS y FROM t LEFT JOIN UNNEST(a) AS u (e) ON e < v

-- python: streaming
SELECT 'python' AS q, shout(s) AS x, k AS y FROM t WHERE shout(s) <> 'X!'
UNION ALL
SELECT 'waits', CAST(asked(v) AS STRING), k FROM t WHERE v < 10
UNION ALL
SELECT 'table', w, CAST(n AS STRING) FROM t, LATERAL TABLE(words(s)) AS u (w, n) WHERE s IS NOT NULL

-- one value: streaming
SELECT k, v FROM t WHERE v = (SELECT MAX(v) FROM t WHERE v < 5) + (SELECT v FROM t WHERE s = 'y-z')

-- percentile: streaming
SELECT k, PERCENTILE(v, 0.3) AS p, PERCENTILE(v, ARRAY[0.1, 0.9]) AS q FROM t WHERE v < 100 GROUP BY k

-- batch stateless: batch
SELECT 'calc' AS q, UPPER(k) AS x, CAST(v * 2 AS STRING) AS y FROM t WHERE v IS NULL OR v > 1
UNION ALL
SELECT 'values', x, CAST(y AS STRING) FROM (VALUES ('x', 9), (CAST(NULL AS STRING), 1)) AS w (x, y)
UNION ALL
SELECT 'sets', k, CAST(COUNT(*) AS STRING) FROM t GROUP BY GROUPING SETS ((k), (s), ())
UNION ALL
SELECT 'TUMBLE', k, CONCAT(CAST(window_start AS STRING), ' ', CAST(window_end AS STRING)) FROM TABLE(TUMBLE(TABLE t,
  DESCRIPTOR(ts), INTERVAL '10' SECOND))
UNION ALL
SELECT 'HOP', k, CONCAT(CAST(window_start AS STRING), ' ', CAST(window_end AS STRING)) FROM TABLE(HOP(TABLE t,
  DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND))
UNION ALL
SELECT 'CUMULATE', k, CONCAT(CAST(window_start AS STRING), ' ', CAST(window_end AS STRING)) FROM
  TABLE(CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND))

-- batch joins: batch
SELECT 'join' AS q, t.k AS x, CAST(c.id AS STRING) AS y FROM t JOIN (VALUES (1, 'a', 5), (2, 'b', 6), (3, CAST(NULL
  AS STRING), 7)) AS c (id, n, v) ON t.k = c.n
UNION ALL
SELECT 'left', t.k, CAST(c.id AS STRING) FROM t LEFT JOIN (VALUES (1, 'a', 5), (2, 'b', 6), (3, CAST(NULL AS
  STRING), 7)) AS c (id, n, v) ON t.k = c.n AND t.v > c.v
UNION ALL
SELECT 'full', t.k, c.n FROM t FULL JOIN (VALUES (1, 'a', 5), (2, 'b', 6), (3, CAST(NULL AS STRING), 7)) AS c (id,
  n, v) ON t.k = c.n
UNION ALL
SELECT 'semi', k, s FROM t WHERE k IN (SELECT n FROM (VALUES (1, 'a', 5), (2, 'b', 6)) AS d (id, n, v))
UNION ALL
SELECT 'anti', k, s FROM t WHERE NOT EXISTS (SELECT * FROM (VALUES (1, 'a', 5), (2, 'b', 6)) AS d (id, n, v) WHERE
  d.n = t.k)
UNION ALL
SELECT 'loop', t.k, CAST(c.id AS STRING) FROM t JOIN (VALUES (1, 'a', 5), (2, 'b', 6), (3, CAST(NULL AS STRING), 7))
  AS c (id, n, v) ON t.v < c.v
UNION ALL
SELECT 'top', k, CAST(r AS STRING) FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS r FROM t)
  WHERE r <= 2
UNION ALL
SELECT 'rank', k, CAST(r AS STRING) FROM (SELECT *, RANK() OVER (PARTITION BY k ORDER BY v) AS r FROM t) WHERE r <=
  2
UNION ALL
SELECT 'sorted', k, CAST(v AS STRING) FROM (SELECT * FROM t ORDER BY v DESC, ts LIMIT 4)
UNION ALL
SELECT 'limit', 'n', CAST(COUNT(*) AS STRING) FROM (SELECT * FROM t LIMIT 3)

-- batch over: batch
SELECT k, v, SUM(v) OVER w AS s, COUNT(*) OVER w AS n, MIN(v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1
  PRECEDING AND CURRENT ROW) AS m, ROW_NUMBER() OVER w AS r, RANK() OVER w AS x, DENSE_RANK() OVER w AS y, LAG(v) OVER
  w AS g, LEAD(v, 2) OVER w AS l, FIRST_VALUE(v) OVER w AS f, LAST_VALUE(v) OVER w AS z, AVG(v) OVER (PARTITION BY k
  ORDER BY ts RANGE BETWEEN INTERVAL '20' SECOND PRECEDING AND CURRENT ROW) AS a FROM t WINDOW w AS (PARTITION BY k
  ORDER BY ts)

-- batch sums over: batch
SELECT k, v, SUM(v) OVER (PARTITION BY k ORDER BY ts) AS s FROM t

-- batch sorted: batch
SELECT k, v, s FROM t ORDER BY k, v DESC

-- batch groups: batch
SELECT k, COUNT(*) AS a1, COUNT(v) AS a2, COUNT(DISTINCT v) AS a3, SUM(v) AS a4, MIN(v) AS a5, MAX(s) AS a6, AVG(v)
  AS a7, STDDEV_POP(v % 10) AS a8, STDDEV_SAMP(v % 10) AS a9, VAR_POP(v % 10) AS b1, VAR_SAMP(v % 10) AS b2,
  SUM(CAST(v % 100 AS DECIMAL(10, 2))) AS b3, AVG(CAST(v % 100 AS DECIMAL(10, 2))) AS b4, SUM(v % 7) FILTER (WHERE v >
  1) AS b5, MIN(ts) AS b6, SUM(CAST(v % 10 AS DOUBLE)) AS b7, COLLECT(v) AS b8, JSON_OBJECTAGG(KEY COALESCE(s, 'n')
  VALUE v) AS b9, SUM(DISTINCT v % 5) AS c1 FROM t WHERE v IS NULL OR v < 100 GROUP BY k

-- batch ordered: batch
SELECT k, LISTAGG(s) AS a1, LISTAGG(s, '|') AS a2, FIRST_VALUE(v) AS a3, LAST_VALUE(s) AS a4, ARRAY_AGG(v) AS a5,
  JSON_ARRAYAGG(v) AS a6, JSON_ARRAYAGG(s NULL ON NULL) AS a7, JSON_OBJECTAGG(KEY COALESCE(s, 'n') VALUE v ABSENT ON
  NULL) AS a8 FROM t GROUP BY k

-- batch zero: batch
SELECT COUNT(*) AS n, SUM(n) AS s FROM (SELECT k, COUNT(v) AS n FROM t GROUP BY k)

-- batch unnested: batch
SELECT 'unnest' AS q, k AS x, CAST(e AS STRING) AS y FROM t CROSS JOIN UNNEST(a) AS u (e)
UNION ALL
SELECT 'left', k, CAST(e AS STRING) FROM t LEFT JOIN UNNEST(a) AS u (e) ON TRUE

-- batch unnested on: batch
SELECT 'on' AS q, k AS x, CAST(e AS STRING) AS y FROM t LEFT JOIN UNNEST(a) AS u (e) ON e < v

-- batch python: batch
SELECT 'python' AS q, shout(s) AS x, k AS y FROM t WHERE shout(s) <> 'X!'
UNION ALL
SELECT 'waits', CAST(asked(v) AS STRING), k FROM t WHERE v < 10
UNION ALL
SELECT 'table', w, CAST(n AS STRING) FROM t, LATERAL TABLE(words(s)) AS u (w, n) WHERE s IS NOT NULL

-- batch python groups: batch
SELECT k, wmean(v, v) AS m, last_two(s) AS l FROM t WHERE v < 100 GROUP BY k

-- batch python over: batch
SELECT k, v, wmean(v, v) OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) AS m FROM t
  WHERE v < 100

-- batch percentile: batch
SELECT k, PERCENTILE(v, 0.3) AS p, PERCENTILE(v, ARRAY[0.1, 0.9]) AS q FROM t WHERE v < 100 GROUP BY k

-- batch one value: batch
SELECT k, v FROM t WHERE v > (SELECT v FROM t WHERE s = 'p-q-r')

-- looked up: streaming
SELECT l.k, l.v, r.v AS w, UPPER(r.s) AS s FROM (SELECT *, PROCTIME() AS pt FROM t) AS l
LEFT JOIN t /*+ OPTIONS('lookup.cache' = 'FULL') */ FOR SYSTEM_TIME AS OF l.pt AS r ON l.k = r.k AND l.v < r.v

-- batch looked up: batch
SELECT l.k, l.v, r.v AS w, UPPER(r.s) AS s FROM (SELECT *, PROCTIME() AS pt FROM t) AS l
JOIN t /*+ OPTIONS('lookup.cache' = 'FULL') */ FOR SYSTEM_TIME AS OF l.pt AS r ON l.k = r.k AND l.v < r.v
