-- DISTINCT in parts over rows that are taken back: sums by item change as rows come.
SET 'table.exec.mini-batch.enabled' = 'true';
SET 'table.exec.mini-batch.allow-latency' = '1 h';
SET 'table.exec.mini-batch.size' = '1000';
SET 'table.optimizer.distinct-agg.split.enabled' = 'true';

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
  k INT,
  d BIGINT,
  s INT,
  c BIGINT,
  t INT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT MOD(s, 3), COUNT(DISTINCT m), SUM(DISTINCT m), COUNT(*), SUM(s)
FROM (SELECT item, region, SUM(n) AS s, MAX(n) AS m FROM stock GROUP BY item, region)
GROUP BY MOD(s, 3);
