-- DISTINCT in parts that send their results, not what is added: no incremental aggregate.
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '1 h';
SET 'table.exec.mini-batch.size' = '1000';
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';
SET 'table.optimizer.incremental-agg-enabled' = 'false';

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
  d BIGINT,
  s INT,
  c BIGINT,
  m DECIMAL(8, 2)
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT region, COUNT(DISTINCT item), SUM(DISTINCT n), COUNT(w) FILTER (WHERE n > 0), MAX(price)
FROM stock GROUP BY region HAVING COUNT(*) > 1;
