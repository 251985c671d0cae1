-- LATERAL queries that read the rows in front: conditions, aggregates, groups, DISTINCT, inner and left.

CREATE TABLE buys (
  id INT,
  who STRING,
  n INT,
  ts TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/buys.jsonl',
  'format' = 'json'
);

CREATE TABLE club (
  who STRING,
  lvl STRING,
  pts INT,
  since TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/club.jsonl',
  'format' = 'json'
);

CREATE TABLE conditions (
  `who` STRING,
  `m` INT
) WITH ('connector' = 'print');

CREATE TABLE totals (
  `who` STRING,
  `k` BIGINT,
  `m` INT
) WITH ('connector' = 'print');

CREATE TABLE grouped (
  `who` STRING,
  `n` INT,
  `k` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE plain_values (
  `who` STRING,
  `n` INT
) WITH ('connector' = 'print');

CREATE TABLE counts (
  `who` STRING,
  `x` BIGINT
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET BEGIN

INSERT INTO conditions
SELECT c.who, t.m FROM club c LEFT JOIN LATERAL (SELECT n AS m FROM buys b WHERE b.who = c.who AND b.n > 5) AS t ON t.m > c.pts;

INSERT INTO totals
SELECT c.who, t.k, t.m FROM club c, LATERAL (SELECT COUNT(*) AS k, MAX(n) AS m FROM buys b WHERE b.who = c.who) AS t;

INSERT INTO grouped
SELECT c.who, t.n, t.k FROM club c, LATERAL (SELECT n, COUNT(*) AS k FROM buys b WHERE b.who = c.who GROUP BY n) AS t;

INSERT INTO plain_values
SELECT c.who, t.n FROM club c LEFT JOIN LATERAL (SELECT DISTINCT n FROM buys b WHERE b.who = c.who) AS t ON TRUE;

INSERT INTO counts
SELECT b.who, t.x FROM buys b LEFT JOIN LATERAL (SELECT COUNT(*) AS x FROM club c WHERE c.who = b.who) AS t ON TRUE;

END;
