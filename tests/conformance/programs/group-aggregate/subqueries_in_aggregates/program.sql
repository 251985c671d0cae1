-- Subqueries in arguments and filters of aggregates.

CREATE TABLE evt (
  id INT,
  color STRING,
  n INT,
  ts TIMESTAMP(3),
  price DECIMAL(6, 2)
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/evt.jsonl',
  'format' = 'json'
);

CREATE TABLE differences (
  `color` STRING,
  `s` INT
) WITH ('connector' = 'print');

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

CREATE TABLE found (
  `color` STRING,
  `s` BIGINT
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET BEGIN

INSERT INTO differences
SELECT color, SUM(n - (SELECT MIN(n) FROM evt)) AS s FROM evt GROUP BY color;

INSERT INTO found
SELECT color, COUNT(*) FILTER (WHERE n IN (SELECT n FROM buys)) AS s FROM evt GROUP BY color;

END;
