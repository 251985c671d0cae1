-- ORDER BY any column of inputs that end: rows come at the end, once what was updated is settled.
SET '__table.exec.sort.non-temporal.enabled__' = 'true';
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
CREATE TABLE ties (
  `k` STRING,
  `v` INT,
  `s` STRING
) WITH ('connector' = 'print');

CREATE TABLE totals (
  `k` STRING,
  `x` INT
) WITH ('connector' = 'print');

CREATE TABLE newest (
  `k` STRING,
  `ts` TIMESTAMP(3),
  `v` INT
) WITH ('connector' = 'print');

CREATE TABLE names (
  `k` STRING
) WITH ('connector' = 'print');

CREATE TABLE windows (
  `window_start` TIMESTAMP(3),
  `k` STRING,
  `x` INT
) WITH ('connector' = 'print');

CREATE TABLE best (
  `k` STRING,
  `v` INT
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET
BEGIN
INSERT INTO ties
SELECT k, v, s FROM ev ORDER BY v NULLS LAST;
INSERT INTO totals
SELECT k, SUM(v) AS x FROM ev GROUP BY k ORDER BY x DESC NULLS LAST, k;
INSERT INTO newest
SELECT k, ts, v FROM ev ORDER BY ts DESC, v;
INSERT INTO names
SELECT k FROM ev UNION SELECT s FROM ev ORDER BY k DESC;
INSERT INTO windows
SELECT window_start, k, SUM(v) AS x FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end, k ORDER BY x DESC, k;
INSERT INTO best
SELECT * FROM (SELECT k, v FROM ev ORDER BY v DESC LIMIT 4) ORDER BY k, v;
END;
