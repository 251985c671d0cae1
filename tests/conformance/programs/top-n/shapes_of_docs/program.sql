-- Top-N as Flink's documentation writes it: ranges, QUALIFY by an alias, over counts, without PARTITION BY.
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
CREATE TABLE ranges (
  `k` STRING,
  `ts` TIMESTAMP(3),
  `v` INT,
  `s` STRING,
  `rn` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE qualified (
  `k` STRING,
  `v` INT,
  `rn` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE counts (
  `k` STRING,
  `c` BIGINT,
  `rn` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE of_all (
  `k` STRING,
  `ts` TIMESTAMP(3),
  `v` INT,
  `s` STRING,
  `rn` BIGINT
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET
BEGIN
INSERT INTO ranges
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM ev) WHERE rn BETWEEN 2 AND 3;
INSERT INTO qualified
SELECT k, v, ROW_NUMBER() OVER (PARTITION BY k ORDER BY v DESC) AS rn FROM ev QUALIFY rn = 1;
INSERT INTO counts
SELECT * FROM (SELECT k, c, ROW_NUMBER() OVER (ORDER BY c DESC) AS rn FROM (SELECT k, COUNT(*) AS c FROM ev GROUP BY k)) WHERE rn <= 2;
INSERT INTO of_all
SELECT * FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY v DESC) AS rn FROM ev) WHERE rn <= 3;
END;
