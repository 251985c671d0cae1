-- LEFT JOIN UNNEST with a condition, and LATERAL queries of a collection: members that are not wanted are as if they were not there.

CREATE TABLE bags (
  id INT,
  xs ARRAY<INT>,
  rs ARRAY<ROW<n STRING, q INT>>,
  m MAP<STRING, INT>
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/bags.jsonl',
  'format' = 'json'
);

CREATE TABLE rows_of (
  `id` INT,
  `n` STRING,
  `q` INT
) WITH ('connector' = 'print');

CREATE TABLE entries (
  `id` INT,
  `k` STRING,
  `v` INT
) WITH ('connector' = 'print');

CREATE TABLE firsts (
  `id` INT,
  `x` INT,
  `o` INT
) WITH ('connector' = 'print');

CREATE TABLE inner_lateral (
  `id` INT,
  `x` INT
) WITH ('connector' = 'print');

CREATE TABLE lateral_left (
  `id` INT,
  `x` INT
) WITH ('connector' = 'print');

CREATE TABLE counted (
  `id` INT,
  `c` BIGINT
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET BEGIN

INSERT INTO rows_of
SELECT id, n, q FROM bags LEFT JOIN UNNEST(rs) AS t (n, q) ON t.q > 1 AND t.n <> 'r';

INSERT INTO entries
SELECT id, k, v FROM bags LEFT JOIN UNNEST(m) AS t (k, v) ON t.v > 1;

INSERT INTO firsts
SELECT id, x, o FROM bags LEFT JOIN UNNEST(xs) WITH ORDINALITY AS t (x, o) ON o = 1;

INSERT INTO inner_lateral
SELECT id, t.x FROM bags, LATERAL (SELECT x FROM UNNEST(xs) AS u (x) WHERE x > 1) AS t;

INSERT INTO lateral_left
SELECT id, t.x FROM bags LEFT JOIN LATERAL (SELECT x FROM UNNEST(xs) AS u (x) WHERE x > 1) AS t ON TRUE;

INSERT INTO counted
SELECT id, COUNT(x) AS c FROM bags LEFT JOIN UNNEST(xs) AS t (x) ON x > 1 GROUP BY id;

END;
