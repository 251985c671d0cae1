-- Rows that a WHERE behind the watermark drops move event time, too: the window closes and the job ends.

CREATE TABLE t (
  k STRING,
  ts TIMESTAMP(3),
  s STRING,
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/t.jsonl',
  'format' = 'json'
);

CREATE TABLE sink (
  `k` STRING,
  `window_start` TIMESTAMP(3),
  `c` BIGINT
) WITH ('connector' = 'print');

SET 'table.exec.lateness.granularity' = 'batch';

INSERT INTO sink
SELECT k, window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))
WHERE s = '403' GROUP BY k, window_start, window_end;
