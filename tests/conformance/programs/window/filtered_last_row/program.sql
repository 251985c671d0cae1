-- The row that ends the input, and with it the windows, is one that WHERE drops: it moves event time all the same.
CREATE TABLE t (k STRING, ts TIMESTAMP(3), s STRING, WATERMARK FOR ts AS ts - INTERVAL '5' SECONDS)
WITH ('connector' = 'filesystem', 'path' = '${dir}/input/t.jsonl', 'format' = 'json');

CREATE TABLE sink (k STRING, window_start TIMESTAMP(3), n BIGINT) WITH ('connector' = 'print');

INSERT INTO sink
SELECT k, window_start, COUNT(*) FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))
WHERE s = '403' GROUP BY k, window_start, window_end;
