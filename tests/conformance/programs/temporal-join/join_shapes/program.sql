-- Temporal joins by event time of all kinds, with conditions and views, of updates, and what stands behind them.
CREATE TABLE pays (
  id INT,
  cur STRING,
  amt INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/pays.jsonl',
  'format' = 'json'
);
CREATE TABLE orders (
  id INT,
  cur STRING,
  amt INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND,
  PRIMARY KEY (id) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/orders.jsonl',
  'format' = 'debezium-json'
);
CREATE TABLE rates (
  rate INT,
  ts TIMESTAMP(3),
  cur STRING,
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND,
  PRIMARY KEY (cur) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/rates.jsonl',
  'format' = 'json'
);
CREATE TABLE changes (
  cur STRING,
  rate INT,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND,
  PRIMARY KEY (cur) NOT ENFORCED
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/changes.jsonl',
  'format' = 'debezium-json'
);
CREATE VIEW doubled AS SELECT LOWER(cur) AS low, rate * 2 AS twice, ts AS since, cur FROM rates;
CREATE VIEW lasts AS SELECT cur, rate, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY cur ORDER BY ts DESC) AS n FROM rates) WHERE n = 1;

CREATE TABLE joined_inner (id INT, cur STRING, rate INT, ts TIMESTAMP(3), since TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE joined_left (id INT, cur STRING, rate INT, since TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE right_condition (id INT, rate INT) WITH ('connector' = 'print');
CREATE TABLE right_condition_left (id INT, rate INT) WITH ('connector' = 'print');
CREATE TABLE right_where (id INT, rate INT) WITH ('connector' = 'print');
CREATE TABLE right_where_left (id INT, rate INT) WITH ('connector' = 'print');
CREATE TABLE left_condition (id INT, rate INT) WITH ('connector' = 'print');
CREATE TABLE both_sides (id INT, rate INT) WITH ('connector' = 'print');
CREATE TABLE of_view (id INT, twice INT, since TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE of_lasts (id INT, rate INT) WITH ('connector' = 'print');
CREATE TABLE of_changes (id INT, rate INT) WITH ('connector' = 'print');
CREATE TABLE by_expression (id INT, rate INT) WITH ('connector' = 'print');
CREATE TABLE same_nulls (id INT, rate INT) WITH ('connector' = 'print');
CREATE TABLE twice (id INT, rate INT, rate2 INT) WITH ('connector' = 'print');
CREATE TABLE windows (window_start TIMESTAMP(3), n BIGINT, total INT) WITH ('connector' = 'print');
CREATE TABLE sums (id INT, s INT) WITH ('connector' = 'print');
CREATE TABLE updated (id INT, amt INT, rate INT) WITH ('connector' = 'print');
CREATE TABLE updated_left (id INT, amt INT, rate INT) WITH ('connector' = 'print');
CREATE TABLE counted (cur STRING, n BIGINT, total INT) WITH ('connector' = 'print');
CREATE TABLE itself (id INT, rate INT, rate2 INT) WITH ('connector' = 'print');

EXECUTE STATEMENT SET
BEGIN
INSERT INTO joined_inner
SELECT p.id, p.cur, r.rate, p.ts, r.ts FROM pays AS p JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.cur = r.cur;
INSERT INTO joined_left
SELECT p.id, p.cur, r.rate, r.ts FROM pays AS p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON r.cur = p.cur;
INSERT INTO right_condition
SELECT p.id, r.rate FROM pays AS p JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.cur = r.cur AND r.rate > 2;
INSERT INTO right_condition_left
SELECT p.id, r.rate FROM pays AS p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.cur = r.cur AND r.rate > 2;
INSERT INTO right_where
SELECT p.id, r.rate FROM pays AS p JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.cur = r.cur WHERE r.rate > 2;
INSERT INTO right_where_left
SELECT p.id, r.rate FROM pays AS p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.cur = r.cur WHERE r.rate > 2 OR r.rate IS NULL;
INSERT INTO left_condition
SELECT p.id, r.rate FROM pays AS p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.cur = r.cur AND p.amt > 15;
INSERT INTO both_sides
SELECT p.id, r.rate FROM pays AS p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.cur = r.cur AND p.amt > r.rate * 7;
INSERT INTO of_view
SELECT p.id, d.twice, d.since FROM pays AS p LEFT JOIN doubled FOR SYSTEM_TIME AS OF p.ts AS d ON p.cur = d.cur;
INSERT INTO of_lasts
SELECT p.id, r.rate FROM pays AS p LEFT JOIN lasts FOR SYSTEM_TIME AS OF p.ts AS r ON p.cur = r.cur;
INSERT INTO of_changes
SELECT p.id, c.rate FROM pays AS p LEFT JOIN changes FOR SYSTEM_TIME AS OF p.ts AS c ON p.cur = c.cur;
INSERT INTO by_expression
SELECT p.id, r.rate FROM pays AS p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON UPPER(p.cur) = r.cur;
INSERT INTO same_nulls
SELECT p.id, r.rate FROM pays AS p LEFT JOIN lasts FOR SYSTEM_TIME AS OF p.ts AS r ON p.cur IS NOT DISTINCT FROM r.cur;
INSERT INTO twice
SELECT p.id, r.rate, c.rate FROM pays AS p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.cur = r.cur JOIN changes FOR SYSTEM_TIME AS OF p.ts AS c ON p.cur = c.cur;
INSERT INTO windows
SELECT window_start, COUNT(*), SUM(rate) FROM TABLE(TUMBLE((SELECT p.ts, r.rate FROM pays AS p LEFT JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.cur = r.cur), DESCRIPTOR(ts), INTERVAL '30' SECOND)) GROUP BY window_start, window_end;
INSERT INTO sums
SELECT id, SUM(rate) OVER (PARTITION BY cur ORDER BY ts) FROM (SELECT p.id, p.cur, p.ts, r.rate FROM pays AS p JOIN rates FOR SYSTEM_TIME AS OF p.ts AS r ON p.cur = r.cur);
INSERT INTO updated
SELECT o.id, o.amt, r.rate FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur;
INSERT INTO updated_left
SELECT o.id, o.amt, r.rate FROM orders AS o LEFT JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur AND r.rate < o.amt;
INSERT INTO counted
SELECT o.cur, COUNT(*), SUM(r.rate) FROM orders AS o JOIN rates FOR SYSTEM_TIME AS OF o.ts AS r ON o.cur = r.cur GROUP BY o.cur;
INSERT INTO itself
SELECT p.id, a.rate, b.rate FROM pays AS p JOIN rates FOR SYSTEM_TIME AS OF p.ts AS a ON p.cur = a.cur JOIN lasts FOR SYSTEM_TIME AS OF p.ts AS b ON p.cur = b.cur;
END;
