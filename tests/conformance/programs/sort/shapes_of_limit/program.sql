-- ORDER BY with LIMIT, OFFSET and FETCH over expressions, columns that are not selected, aggregates and each other.
CREATE TABLE ev (
  k STRING,
  ts TIMESTAMP(3),
  v INT,
  s STRING,
  WATERMARK FOR ts AS ts - INTERVAL '2' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/ev.jsonl',
  'format' = 'json'
);
CREATE TABLE fetched (
  `k` STRING,
  `v` INT
) WITH ('connector' = 'print');

CREATE TABLE computed (
  `k` STRING,
  `v` INT
) WITH ('connector' = 'print');

CREATE TABLE counted (
  `k` STRING,
  `c` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE numbered (
  `k` STRING,
  `v` INT
) WITH ('connector' = 'print');

CREATE TABLE nested (
  `k` STRING,
  `v` INT
) WITH ('connector' = 'print');

CREATE TABLE hidden (
  `k` STRING
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET
BEGIN
INSERT INTO fetched
SELECT k, v FROM ev ORDER BY v OFFSET 1 ROWS FETCH FIRST 2 ROWS ONLY;
INSERT INTO computed
SELECT k, v FROM ev ORDER BY v * -1, k LIMIT 4;
INSERT INTO counted
SELECT k, COUNT(*) AS c FROM ev GROUP BY k ORDER BY c DESC, k LIMIT 2;
INSERT INTO numbered
SELECT k, v FROM ev ORDER BY 2 DESC, 1 LIMIT 3;
INSERT INTO nested
SELECT * FROM (SELECT k, v FROM ev ORDER BY v LIMIT 5) ORDER BY v DESC LIMIT 2;
INSERT INTO hidden
SELECT k FROM ev ORDER BY v LIMIT 2;
END;
