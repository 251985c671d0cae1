-- Lookup joins: keys of columns, expressions and constants, conditions on either side, LEFT, views, one behind the other.
CREATE TABLE orders (
  id INT,
  k BIGINT,
  s STRING,
  v INT,
  ts TIMESTAMP(3),
  pt AS PROCTIME(),
  WATERMARK FOR ts AS ts - INTERVAL '1' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/orders.jsonl',
  'format' = 'json'
);
CREATE TABLE products (
  id BIGINT,
  name STRING,
  price DECIMAL(10, 2),
  since DATE,
  loud AS UPPER(name),
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/products.jsonl',
  'format' = 'json',
  'lookup.cache' = 'FULL'
);
CREATE TABLE prices (
  name STRING,
  `day` DATE,
  price DECIMAL(10, 2)
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/prices.csv',
  'format' = 'csv',
  'lookup.cache' = 'FULL'
);
CREATE VIEW dear AS SELECT id, CONCAT(name, '!') AS name, price * 2 AS twice FROM products WHERE price > 2;
CREATE TABLE matched (id INT, name STRING, price DECIMAL(10, 2)) WITH ('connector' = 'print');
CREATE TABLE padded (id INT, name STRING, loud STRING, since DATE) WITH ('connector' = 'print');
CREATE TABLE conditions (id INT, name STRING, price DECIMAL(10, 2)) WITH ('connector' = 'print');
CREATE TABLE computed (id INT, name STRING) WITH ('connector' = 'print');
CREATE TABLE constants (id INT, price DECIMAL(10, 2)) WITH ('connector' = 'print');
CREATE TABLE of_view (id INT, name STRING, twice DECIMAL(12, 2)) WITH ('connector' = 'print');
CREATE TABLE behind (id INT, name STRING, `day` DATE, price DECIMAL(10, 2)) WITH ('connector' = 'print');
CREATE TABLE comma (id INT, name STRING) WITH ('connector' = 'print');
CREATE TABLE windows (window_start TIMESTAMP(3), name STRING, n BIGINT) WITH ('connector' = 'print');
CREATE TABLE totals (name STRING, n BIGINT, total INT) WITH ('connector' = 'print');
CREATE TABLE narrowed (id INT, name STRING) WITH ('connector' = 'print');

EXECUTE STATEMENT SET
BEGIN
INSERT INTO matched
SELECT o.id, p.name, p.price FROM orders AS o JOIN products FOR SYSTEM_TIME AS OF o.pt AS p ON o.k = p.id;
INSERT INTO padded
SELECT o.id, p.name, p.loud, p.since FROM orders AS o LEFT JOIN products FOR SYSTEM_TIME AS OF o.pt AS p ON o.k = p.id;
INSERT INTO conditions
SELECT o.id, p.name, p.price FROM orders AS o LEFT JOIN products FOR SYSTEM_TIME AS OF o.pt AS p ON o.k = p.id AND p.price > 1.5 AND o.v < 40 AND o.v < p.price * 10;
INSERT INTO computed
SELECT o.id, p.name FROM orders AS o JOIN products FOR SYSTEM_TIME AS OF o.pt AS p ON MOD(o.v, 3) + 1 = p.id;
INSERT INTO constants
SELECT o.id, p.price FROM orders AS o JOIN prices FOR SYSTEM_TIME AS OF o.pt AS p ON p.name = 'pen' AND o.v > 20;
INSERT INTO of_view
SELECT o.id, d.name, d.twice FROM orders AS o LEFT JOIN dear FOR SYSTEM_TIME AS OF o.pt AS d ON o.k = d.id;
INSERT INTO behind
SELECT o.id, p.name, q.`day`, q.price FROM orders AS o JOIN products FOR SYSTEM_TIME AS OF o.pt AS p ON o.k = p.id LEFT JOIN prices FOR SYSTEM_TIME AS OF o.pt AS q ON p.name = q.name AND q.`day` = p.since;
INSERT INTO comma
SELECT o.id, p.name FROM orders AS o, products FOR SYSTEM_TIME AS OF o.pt AS p WHERE o.k = p.id AND p.loud = o.s AND o.v > 5;
INSERT INTO windows
SELECT window_start, name, COUNT(*) FROM TABLE(TUMBLE((SELECT o.ts, p.name FROM orders AS o JOIN products FOR SYSTEM_TIME AS OF o.pt AS p ON o.k = p.id), DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, name;
INSERT INTO totals
SELECT p.name, COUNT(*), SUM(o.v) FROM orders AS o LEFT JOIN products FOR SYSTEM_TIME AS OF o.pt AS p ON o.k = p.id GROUP BY p.name;
INSERT INTO narrowed
SELECT o.id, p.name FROM orders AS o LEFT JOIN products FOR SYSTEM_TIME AS OF o.pt AS p ON o.k = p.id WHERE p.price < 3;
END;
