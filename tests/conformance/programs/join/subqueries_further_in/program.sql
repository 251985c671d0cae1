-- Subqueries that read the query around from further inside: queries in FROM and WITH, two levels, LIMIT in EXISTS, groups.

CREATE TABLE t (
  a INT,
  b INT,
  c STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/t.jsonl',
  'format' = 'json'
);

CREATE TABLE u (
  a INT,
  d INT,
  e STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/u.jsonl',
  'format' = 'json'
);

CREATE TABLE with_query (
  `a` INT,
  `d` INT
) WITH ('connector' = 'print');

CREATE TABLE from_query (
  `a` INT,
  `x` INT,
  `d` INT,
  `z` STRING
) WITH ('connector' = 'print');

CREATE TABLE groups (
  `a` INT,
  `e` STRING,
  `n` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE numbered (
  `a` INT,
  `d` INT
) WITH ('connector' = 'print');

CREATE TABLE lateral_exists (
  `a` INT,
  `d` INT
) WITH ('connector' = 'print');

CREATE TABLE scalar (
  `a` INT,
  `m` INT,
  `n` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE two_levels (
  `a` INT
) WITH ('connector' = 'print');

CREATE TABLE not_two_levels (
  `a` INT
) WITH ('connector' = 'print');

CREATE TABLE limited (
  `a` INT
) WITH ('connector' = 'print');

CREATE TABLE over_groups (
  `c` STRING,
  `s` INT,
  `m` INT
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET BEGIN

INSERT INTO with_query
SELECT t.a, s.d FROM t, LATERAL (WITH w AS (SELECT * FROM u WHERE u.a = t.a) SELECT d FROM w WHERE e = 'y') AS s;

INSERT INTO from_query
SELECT t.a, s.* FROM t, LATERAL (SELECT * FROM (SELECT a, d, e FROM u WHERE u.a = t.a) w (x, d, z) WHERE z = t.c) AS s;

INSERT INTO groups
SELECT t.a, s.* FROM t, LATERAL (SELECT * FROM (SELECT e, COUNT(*) AS n FROM u WHERE u.a = t.a GROUP BY e) w) AS s;

INSERT INTO numbered
SELECT t.a, s.d FROM t, LATERAL (SELECT d FROM (SELECT d, ROW_NUMBER() OVER (PARTITION BY a ORDER BY d DESC) AS rn FROM u WHERE u.a = t.a) WHERE rn = 1) AS s;

INSERT INTO lateral_exists
SELECT t.a, s.d FROM t, LATERAL (SELECT d FROM u WHERE EXISTS (SELECT 1 FROM u u2 WHERE u2.a = t.a AND u2.d = u.d)) AS s;

INSERT INTO scalar
SELECT a, (SELECT MAX(d) FROM (SELECT d FROM u WHERE u.a = t.a)), (SELECT COUNT(*) FROM u WHERE u.a = t.a AND d > (SELECT MIN(d) FROM u u2 WHERE u2.a = t.a)) FROM t;

INSERT INTO two_levels
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND EXISTS (SELECT 1 FROM u u2 WHERE u2.e = t.c AND u2.d >= u.d + 50));

INSERT INTO not_two_levels
SELECT a FROM t WHERE NOT EXISTS (SELECT 1 FROM u WHERE u.a = t.a AND u.e IN (SELECT e FROM u u2 WHERE u2.e = t.c AND u2.d <> u.d));

INSERT INTO limited
SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a ORDER BY d LIMIT 1);

INSERT INTO over_groups
SELECT c, SUM(b), (SELECT MAX(d) FROM u WHERE u.e = t.c) FROM t GROUP BY c HAVING SUM(b) < (SELECT MIN(d) FROM u WHERE u.e = t.c);

END;
