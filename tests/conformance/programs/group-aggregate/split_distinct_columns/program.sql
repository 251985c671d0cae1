-- Several DISTINCT columns beside plain aggregates, some with FILTER and HAVING, in parts.
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '1 h';
SET 'table.exec.mini-batch.size' = '1000';
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SET 'table.optimizer.distinct-agg.split.bucket-num' = '4';

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
  region STRING,
  items BIGINT,
  numbers BIGINT,
  total INT,
  larger BIGINT,
  mean DECIMAL(38, 6),
  lowest INT,
  highest DOUBLE,
  c BIGINT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT region, COUNT(DISTINCT item), COUNT(DISTINCT n), SUM(DISTINCT n),
  COUNT(DISTINCT item) FILTER (WHERE n > 2), AVG(price), MIN(n), MAX(w), COUNT(*)
FROM stock GROUP BY region HAVING COUNT(DISTINCT price) <> 1;
