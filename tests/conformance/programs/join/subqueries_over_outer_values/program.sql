-- Subqueries that read the query around in any place: comparisons under aggregates, their operands, lists, two levels, rows with NULL.

CREATE TABLE t (
  id INT,
  k STRING,
  v INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/t.jsonl',
  'format' = 'json'
);

CREATE TABLE u (
  id INT,
  k STRING,
  w INT
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/u.jsonl',
  'format' = 'json'
);

CREATE TABLE `compared` (
  `id` INT,
  `c` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE `operands` (
  `id` INT,
  `s` INT
) WITH ('connector' = 'print');

CREATE TABLE `nulls` (
  `id` INT,
  `c` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE `different` (
  `id` INT,
  `x` INT
) WITH ('connector' = 'print');

CREATE TABLE `listed` (
  `id` INT,
  `x` INT
) WITH ('connector' = 'print');

CREATE TABLE `totals` (
  `id` INT,
  `c` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE `groups` (
  `id` INT,
  `w` INT
) WITH ('connector' = 'print');

CREATE TABLE `nested` (
  `id` INT,
  `w` INT
) WITH ('connector' = 'print');

CREATE TABLE `nested_totals` (
  `id` INT,
  `w` INT
) WITH ('connector' = 'print');

CREATE TABLE `existing` (
  `id` INT,
  `w` INT
) WITH ('connector' = 'print');

CREATE TABLE `among` (
  `id` INT,
  `w` INT
) WITH ('connector' = 'print');

CREATE TABLE `filtered` (
  `id` INT,
  `s` INT
) WITH ('connector' = 'print');

CREATE TABLE `from_groups` (
  `id` INT,
  `s` INT
) WITH ('connector' = 'print');

CREATE TABLE `scalar` (
  `id` INT,
  `n` BIGINT,
  `s` INT
) WITH ('connector' = 'print');

CREATE TABLE `averages` (
  `id` INT
) WITH ('connector' = 'print');

CREATE TABLE `found` (
  `id` INT,
  `e` BOOLEAN,
  `i` BOOLEAN
) WITH ('connector' = 'print');

CREATE TABLE `every` (
  `id` INT
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET BEGIN

INSERT INTO `compared`
SELECT t.id, l.c FROM t, LATERAL (SELECT COUNT(*) AS c FROM u WHERE u.w < t.v) AS l;

INSERT INTO `operands`
SELECT t.id, l.s FROM t, LATERAL (SELECT SUM(t.v + w) AS s FROM u WHERE u.k = t.k) AS l;

INSERT INTO `nulls`
SELECT t.id, l.c FROM t, LATERAL (SELECT COUNT(*) AS c FROM u WHERE COALESCE(u.k, 'x') = COALESCE(t.k, 'x')) AS l;

INSERT INTO `different`
SELECT t.id, l.x FROM t LEFT JOIN LATERAL (SELECT DISTINCT t.v + w AS x FROM u WHERE u.k = t.k) AS l ON TRUE;

INSERT INTO `listed`
SELECT t.id, l.x FROM t LEFT JOIN LATERAL (SELECT t.v + w AS x FROM u WHERE u.k = t.k) AS l ON TRUE;

INSERT INTO `totals`
SELECT t.id, l.c FROM t LEFT JOIN LATERAL (SELECT COUNT(*) AS c FROM u WHERE u.w > t.v) AS l ON TRUE;

INSERT INTO `groups`
SELECT t.id, l.w FROM t LEFT JOIN LATERAL (SELECT u.k, SUM(w) AS w FROM u WHERE u.id > t.id GROUP BY u.k) AS l ON l.w > 10;

INSERT INTO `nested`
SELECT t.id, l.w FROM t LEFT JOIN LATERAL (SELECT a.id, x.w FROM u AS a, LATERAL (SELECT w FROM u AS b WHERE b.k = t.k AND b.id > a.id) AS x) AS l ON TRUE;

INSERT INTO `nested_totals`
SELECT t.id, l.w FROM t, LATERAL (SELECT x.w FROM u AS a, LATERAL (SELECT MAX(w) AS w FROM u AS b WHERE b.k = t.k) AS x) AS l;

INSERT INTO `existing`
SELECT t.id, l.w FROM t, LATERAL (SELECT w FROM u WHERE u.k = t.k AND EXISTS (SELECT 1 FROM t AS t2 WHERE t2.v = t.v AND t2.v > u.w)) AS l;

INSERT INTO `among`
SELECT t.id, l.w FROM t, LATERAL (SELECT w FROM u WHERE u.k = t.k AND u.id IN (SELECT t2.id FROM t AS t2 WHERE t2.k = u.k AND t2.v >= t.v)) AS l;

INSERT INTO `filtered`
SELECT t.id, l.s FROM t, LATERAL (SELECT SUM(w) FILTER (WHERE w < t.v) AS s FROM u WHERE u.k = t.k) AS l;

INSERT INTO `from_groups`
SELECT t.id, l.s FROM t, LATERAL (SELECT MAX(s) AS s FROM (SELECT k, SUM(w) AS s FROM u WHERE u.w < t.v GROUP BY k)) AS l;

INSERT INTO `scalar`
SELECT t.id, (SELECT COUNT(*) FROM u WHERE u.w > t.v), (SELECT SUM(w + t.v) FROM u WHERE u.k = t.k) FROM t;

INSERT INTO `averages`
SELECT t.id FROM t WHERE t.v > (SELECT AVG(w) FROM u WHERE u.id <> t.id AND u.k = t.k);

INSERT INTO `found`
SELECT t.id, EXISTS (SELECT 1 FROM u WHERE u.id > t.id AND u.k = t.k), t.id IN (SELECT u.id FROM u WHERE u.w > t.v) FROM t;

INSERT INTO `every`
SELECT t.id FROM t WHERE t.v > ALL (SELECT w FROM u WHERE u.id > t.id);

END;
