-- DISTINCT over all rows, in two parts: one row of the result is computed by several tasks.
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '1 h';
SET 'table.exec.mini-batch.size' = '1000';
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SET 'table.optimizer.distinct-agg.split.bucket-num' = '2';

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

CREATE TABLE sink (
  items BIGINT,
  total DECIMAL(38, 2),
  mean INT,
  c BIGINT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT COUNT(DISTINCT item), SUM(DISTINCT price), AVG(n), COUNT(*) FROM stock;
