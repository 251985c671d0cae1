-- Interval joins of all kinds and bounds, what windows, OVER, ORDER BY and other joins make of them, those of windows.
CREATE TABLE lefts (
  k STRING,
  ts TIMESTAMP(3),
  v INT,
  WATERMARK FOR ts AS ts - INTERVAL '3.007' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/lefts.jsonl',
  'format' = 'json'
);
CREATE TABLE rights (
  ts TIMESTAMP(3),
  k STRING,
  w INT,
  WATERMARK FOR ts AS ts - INTERVAL '3.007' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/rights.jsonl',
  'format' = 'json'
);
CREATE TABLE bounded (k STRING, v INT, w INT, lts TIMESTAMP(3), rts TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE earlier (v INT, w INT, rts TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE later (v INT, w INT) WITH ('connector' = 'print');
CREATE TABLE conditions (k STRING, v INT, w INT) WITH ('connector' = 'print');
CREATE TABLE nulls (lk STRING, v INT, rk STRING, w INT) WITH ('connector' = 'print');
CREATE TABLE no_key (v INT, w INT) WITH ('connector' = 'print');
CREATE TABLE nothing (v INT, w INT) WITH ('connector' = 'print');
CREATE TABLE equal_times (v INT, w INT, lts TIMESTAMP(3), rts TIMESTAMP(3)) WITH ('connector' = 'print');
CREATE TABLE counted (window_start TIMESTAMP(3), n BIGINT, total INT) WITH ('connector' = 'print');
CREATE TABLE counted_right (window_start TIMESTAMP(3), n BIGINT, m BIGINT) WITH ('connector' = 'print');
CREATE TABLE sessions (k STRING, window_start TIMESTAMP(3), window_end TIMESTAMP(3), n BIGINT) WITH ('connector' = 'print');
CREATE TABLE sums (k STRING, v INT, s INT) WITH ('connector' = 'print');
CREATE TABLE ordered (v INT, w INT) WITH ('connector' = 'print');
CREATE TABLE firsts (k STRING, w INT) WITH ('connector' = 'print');
CREATE TABLE three (k STRING, v INT, w INT, v2 INT) WITH ('connector' = 'print');
CREATE TABLE three_padded (k STRING, w INT, v2 INT) WITH ('connector' = 'print');
CREATE TABLE of_windows (k STRING, n BIGINT, w INT) WITH ('connector' = 'print');
CREATE TABLE windows_of_windows (window_start TIMESTAMP(3), n BIGINT, m BIGINT) WITH ('connector' = 'print');
CREATE TABLE itself (k STRING, v INT, v2 INT) WITH ('connector' = 'print');

EXECUTE STATEMENT SET
BEGIN
INSERT INTO bounded
SELECT l.k, l.v, r.w, l.ts, r.ts FROM lefts AS l JOIN rights AS r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '5' SECOND;
INSERT INTO earlier
SELECT l.v, r.w, r.ts FROM lefts AS l RIGHT JOIN rights AS r ON l.k = r.k AND l.ts BETWEEN r.ts - INTERVAL '8' SECOND AND r.ts - INTERVAL '1' SECOND;
INSERT INTO later
SELECT l.v, r.w FROM lefts AS l LEFT JOIN rights AS r ON l.k = r.k AND l.ts > r.ts + INTERVAL '1' SECOND AND l.ts < r.ts + INTERVAL '8' SECOND;
INSERT INTO conditions
SELECT l.k, l.v, r.w FROM lefts AS l LEFT JOIN rights AS r ON l.k = r.k AND l.v * 10 < r.w AND l.v <> 8 AND r.ts BETWEEN l.ts - INTERVAL '5' SECOND AND l.ts + INTERVAL '5' SECOND;
INSERT INTO nulls
SELECT l.k, l.v, r.k, r.w FROM lefts AS l FULL JOIN rights AS r ON l.k IS NOT DISTINCT FROM r.k AND l.ts BETWEEN r.ts - INTERVAL '3' SECOND AND r.ts + INTERVAL '3' SECOND;
INSERT INTO no_key
SELECT l.v, r.w FROM lefts AS l, rights AS r WHERE l.ts > r.ts - INTERVAL '2' SECOND AND r.ts > l.ts - INTERVAL '1.5' SECOND AND (l.k = r.k OR l.v < r.w);
INSERT INTO nothing
SELECT l.v, r.w FROM lefts AS l FULL JOIN rights AS r ON l.k = r.k AND l.ts BETWEEN r.ts + INTERVAL '5' SECOND AND r.ts;
INSERT INTO equal_times
SELECT l.v, r.w, l.ts, r.ts FROM lefts AS l FULL JOIN rights AS r ON l.ts = r.ts;
INSERT INTO counted
SELECT window_start, COUNT(*), SUM(w) FROM TABLE(TUMBLE((SELECT l.ts, r.w FROM lefts AS l JOIN rights AS r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '5' SECOND), DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
INSERT INTO counted_right
SELECT window_start, COUNT(*), COUNT(v) FROM TABLE(HOP((SELECT r.ts, l.v FROM lefts AS l RIGHT JOIN rights AS r ON l.k = r.k AND l.ts BETWEEN r.ts - INTERVAL '4' SECOND AND r.ts + INTERVAL '1' SECOND), DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
INSERT INTO sessions
SELECT k, window_start, window_end, COUNT(w) FROM TABLE(SESSION((SELECT l.k, l.ts, r.w FROM lefts AS l LEFT JOIN rights AS r ON l.k = r.k AND r.ts BETWEEN l.ts - INTERVAL '1' SECOND AND l.ts + INTERVAL '4' SECOND) PARTITION BY k, DESCRIPTOR(ts), INTERVAL '4' SECOND)) GROUP BY k, window_start, window_end;
INSERT INTO sums
SELECT k, v, SUM(w) OVER (PARTITION BY k ORDER BY ts) FROM (SELECT l.k, l.v, l.ts, r.w FROM lefts AS l LEFT JOIN rights AS r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '5' SECOND);
INSERT INTO ordered
SELECT v, w FROM (SELECT l.v, r.w, l.ts FROM lefts AS l LEFT JOIN rights AS r ON l.k = r.k AND l.ts BETWEEN r.ts AND r.ts + INTERVAL '5' SECOND) ORDER BY ts;
INSERT INTO firsts
SELECT k, w FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY rts) AS rn FROM (SELECT l.k, r.w, r.ts AS rts FROM lefts AS l JOIN rights AS r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '5' SECOND)) WHERE rn = 1;
INSERT INTO three
SELECT l.k, l.v, r.w, x.v FROM lefts AS l LEFT JOIN rights AS r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '5' SECOND JOIN lefts AS x ON l.k = x.k AND x.ts BETWEEN l.ts AND l.ts + INTERVAL '12' SECOND;
INSERT INTO three_padded
SELECT p.k, p.w, x.v FROM (SELECT l.k, r.w, r.ts FROM lefts AS l LEFT JOIN rights AS r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL '5' SECOND) AS p LEFT JOIN lefts AS x ON p.k = x.k AND x.ts BETWEEN p.ts - INTERVAL '2' SECOND AND p.ts + INTERVAL '2' SECOND;
INSERT INTO of_windows
SELECT l.k, l.n, r.w FROM (SELECT k, COUNT(*) AS n, window_time AS wt FROM TABLE(TUMBLE(TABLE lefts, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end, window_time) AS l LEFT JOIN rights AS r ON l.k = r.k AND r.ts BETWEEN l.wt - INTERVAL '10' SECOND AND l.wt;
INSERT INTO windows_of_windows
SELECT window_start, SUM(n), COUNT(w) FROM TABLE(TUMBLE((SELECT l.wt, l.n, r.w FROM (SELECT k, COUNT(*) AS n, window_time AS wt FROM TABLE(TUMBLE(TABLE lefts, DESCRIPTOR(ts), INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end, window_time) AS l LEFT JOIN (SELECT k, MAX(w) AS w, window_time AS wt FROM TABLE(TUMBLE(TABLE rights, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY k, window_start, window_end, window_time) AS r ON l.k = r.k AND r.wt BETWEEN l.wt - INTERVAL '6' SECOND AND l.wt + INTERVAL '6' SECOND), DESCRIPTOR(wt), INTERVAL '20' SECOND)) GROUP BY window_start, window_end;
INSERT INTO itself
SELECT x.k, x.v, y.v FROM lefts AS x JOIN lefts AS y ON x.k = y.k AND y.ts > x.ts AND y.ts <= x.ts + INTERVAL '10' SECOND;
END;
