-- A column of the input is named window_start: the name is ambiguous above the window function.

CREATE TABLE t (
  a INT,
  window_start STRING,
  ts TIMESTAMP(3),
  WATERMARK FOR ts AS ts
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/t.jsonl',
  'format' = 'json'
);

CREATE TABLE sink (
  `a` INT,
  `c` BIGINT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT a, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))
GROUP BY a, window_start, window_end;
