-- Top-N and deduplication within windows as Flink's documentation writes them: HOP, CUMULATE, QUALIFY, by the time attribute.
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
CREATE TABLE hopping (
  `k` STRING,
  `v` INT,
  `window_start` TIMESTAMP(3),
  `window_end` TIMESTAMP(3),
  `rownum` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE qualified (
  `k` STRING,
  `v` INT,
  `window_start` TIMESTAMP(3),
  `window_end` TIMESTAMP(3)
) WITH ('connector' = 'print');

CREATE TABLE numbered (
  `k` STRING,
  `ts` TIMESTAMP(3),
  `v` INT,
  `window_start` TIMESTAMP(3)
) WITH ('connector' = 'print');

CREATE TABLE newest (
  `k` STRING,
  `v` INT,
  `ts` TIMESTAMP(3),
  `window_start` TIMESTAMP(3),
  `window_end` TIMESTAMP(3),
  `rownum` BIGINT
) WITH ('connector' = 'print');

CREATE TABLE oldest (
  `k` STRING,
  `v` INT,
  `ts` TIMESTAMP(3),
  `window_start` TIMESTAMP(3),
  `window_end` TIMESTAMP(3),
  `rownum` BIGINT
) WITH ('connector' = 'print');

EXECUTE STATEMENT SET
BEGIN
INSERT INTO hopping
SELECT * FROM (SELECT k, v, window_start, window_end, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v DESC) AS rownum FROM TABLE(HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) WHERE rownum <= 1;
INSERT INTO qualified
SELECT k, v, window_start, window_end FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND)) QUALIFY ROW_NUMBER() OVER (PARTITION BY window_start, window_end ORDER BY v DESC) <= 2;
INSERT INTO numbered
SELECT k, ts, v, window_start FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts, v) AS rn FROM TABLE(TUMBLE(TABLE ev, DESCRIPTOR(ts), INTERVAL '10' SECOND))) WHERE rn <= 2;
INSERT INTO newest
SELECT * FROM (SELECT k, v, ts, window_start, window_end, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts DESC) AS rownum FROM TABLE(CUMULATE(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) WHERE rownum = 1;
INSERT INTO oldest
SELECT * FROM (SELECT k, v, ts, window_start, window_end, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY ts) AS rownum FROM TABLE(HOP(TABLE ev, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND))) WHERE rownum <= 1;
END;
