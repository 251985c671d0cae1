-- PERCENTILE with frequencies, DISTINCT, FILTER and several percentages, over rows that are added and taken back.

CREATE TABLE stock (
  id INT,
  item STRING,
  region STRING,
  n INT,
  price DECIMAL(8, 2),
  w DOUBLE,
  ts TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/stock.jsonl',
  'format' = 'json'
);

CREATE TABLE items (
  `item` STRING,
  `p` DOUBLE,
  `q` ARRAY<DOUBLE>,
  `c` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE of_groups (
  `p` DOUBLE,
  `d` DOUBLE,
  `f` DOUBLE,
  `r` DOUBLE
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET BEGIN

INSERT INTO items
SELECT item, PERCENTILE(n, 0.5, id) AS p, PERCENTILE(n, ARRAY[0.25, 0.75], id) AS q, COUNT(DISTINCT n) AS c
FROM stock
GROUP BY item;

INSERT INTO of_groups
SELECT PERCENTILE(s, 0.5, c) AS p, PERCENTILE(DISTINCT s, 0.5, c) AS d, PERCENTILE(s, 0.5, c) FILTER (WHERE c > 1) AS f, PERCENTILE(s, 0.9) AS r
FROM (SELECT item, SUM(n) AS s, COUNT(*) AS c
FROM stock
GROUP BY item);

END;
