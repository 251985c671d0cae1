-- Patterns, ends, skips, times, aggregates and expressions of MATCH_RECOGNIZE, and what stands around it.
CREATE TABLE quotes (
  id INT,
  sym STRING,
  ts TIMESTAMP(3),
  px INT,
  amt DECIMAL(8, 2),
  name STRING,
  r ROW<x INT, y STRING>,
  WATERMARK FOR ts AS ts - INTERVAL '10' SECOND
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/quotes.jsonl',
  'format' = 'json'
);
CREATE VIEW minutes AS SELECT window_time AS wt, sym, COUNT(*) AS c, SUM(px) AS s FROM TABLE(TUMBLE(TABLE quotes, DESCRIPTOR(ts), INTERVAL '5' SECOND)) GROUP BY window_start, window_end, window_time, sym;
CREATE VIEW hits AS SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES MATCH_ROWTIME() AS rt, R.px AS up
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (F R)
  DEFINE F AS F.px < 10, R AS R.px > F.px
) AS m;
CREATE TABLE times_range (`sym` STRING, `a` INT, `a2` INT, `b` INT, `b2` INT, `c` INT) WITH ('connector' = 'print');
CREATE TABLE greedy_range (`sym` STRING, `a` INT, `a2` INT, `b` INT, `b2` INT, `c` INT) WITH ('connector' = 'print');
CREATE TABLE at_least (`sym` STRING, `a` INT, `a2` INT, `b` INT, `b2` INT, `c` INT) WITH ('connector' = 'print');
CREATE TABLE any_number (`sym` STRING, `a` INT, `a2` INT, `b` INT, `b2` INT, `c` INT) WITH ('connector' = 'print');
CREATE TABLE reluctant (`sym` STRING, `a` INT, `a2` INT, `b` INT, `b2` INT, `c` INT) WITH ('connector' = 'print');
CREATE TABLE ends_reluctant (`sym` STRING, `a` INT, `a2` INT, `b` INT, `b2` INT, `c` INT) WITH ('connector' = 'print');
CREATE TABLE ends_optional (`sym` STRING, `a` INT, `a2` INT, `b` INT, `b2` INT, `c` INT) WITH ('connector' = 'print');
CREATE TABLE optional_between (`sym` STRING, `a` INT, `a2` INT, `b` INT, `b2` INT, `c` INT) WITH ('connector' = 'print');
CREATE TABLE optional_first (`sym` STRING, `a` INT, `a2` INT, `b` INT, `b2` INT, `c` INT) WITH ('connector' = 'print');
CREATE TABLE nested (`sym` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE skip_to_first (`sym` STRING, `a` INT, `a2` INT, `b` INT, `b2` INT, `c` INT) WITH ('connector' = 'print');
CREATE TABLE skip_to_last (`sym` STRING, `a` INT, `a2` INT, `b` INT, `b2` INT, `c` INT) WITH ('connector' = 'print');
CREATE TABLE skip_to (`sym` STRING, `a` INT, `a2` INT, `b` INT, `b2` INT, `c` INT) WITH ('connector' = 'print');
CREATE TABLE within_short (`sym` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE within_exact (`sym` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE within_waits (`sym` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE no_partition (`a` INT, `b` INT, `n` BIGINT, `nb` BIGINT) WITH ('connector' = 'print');
CREATE TABLE two_keys (`sym` STRING, `name` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE second_order (`sym` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE aggregates (`sym` STRING, `s` INT, `av` INT, `mi` DECIMAL(8, 2), `ma` STRING, `sa` DECIMAL(38, 2), `aa` DECIMAL(38, 6), `n` BIGINT, `l` STRING, `b` INT) WITH ('connector' = 'print');
CREATE TABLE aggregates_of_expressions (`sym` STRING, `s` INT, `t` BIGINT, `w` INT, `x` DECIMAL(13, 2)) WITH ('connector' = 'print');
CREATE TABLE expressions (`sym` STRING, `n` STRING, `e` INT, `w` STRING, `t` STRING, `k` INT) WITH ('connector' = 'print');
CREATE TABLE functions_in_conditions (`sym` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE fields_of_rows (`sym` STRING, `a` INT, `b` STRING) WITH ('connector' = 'print');
CREATE TABLE offsets (`sym` STRING, `f1` INT, `f5` INT, `l2` INT, `u` INT, `fu` INT, `lu` INT) WITH ('connector' = 'print');
CREATE TABLE bare_columns (`sym` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE decimals_and_texts (`sym` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE times_of_rows (`sym` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE lower_case (`sym` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE counts (`sym` STRING, `c` BIGINT, `s` INT) WITH ('connector' = 'print');
CREATE TABLE windows (`window_start` TIMESTAMP(3), `window_end` TIMESTAMP(3), `c` BIGINT) WITH ('connector' = 'print');
CREATE TABLE matches_of_matches (`sym` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE of_windows (`sym` STRING, `a` BIGINT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE of_a_query (`sym` STRING, `a` INT, `b` INT) WITH ('connector' = 'print');
CREATE TABLE filtered (`a` INT, `b` INT, `sym` STRING) WITH ('connector' = 'print');
CREATE TABLE joined (`a` INT, `px` INT) WITH ('connector' = 'print');
EXECUTE STATEMENT SET
BEGIN
INSERT INTO times_range
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.id) AS a, LAST(A.id) AS a2, FIRST(B.id) AS b, LAST(B.id) AS b2, LAST(C.id) AS c
  ONE ROW PER MATCH
  PATTERN (A{1,3}? B{2} C)
  DEFINE A AS A.px > 3, B AS B.px > 2, C AS C.px > 1
) AS m;
INSERT INTO greedy_range
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.id) AS a, LAST(A.id) AS a2, FIRST(B.id) AS b, LAST(B.id) AS b2, LAST(C.id) AS c
  ONE ROW PER MATCH
  PATTERN (A{1,2} B C)
  DEFINE A AS A.px > 6, B AS B.px > 2, C AS C.px > 1
) AS m;
INSERT INTO at_least
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.id) AS a, LAST(A.id) AS a2, FIRST(B.id) AS b, LAST(B.id) AS b2, LAST(C.id) AS c
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A{2,} B C)
  DEFINE A AS A.px > 4, B AS B.px <= 4, C AS C.px > 1
) AS m;
INSERT INTO any_number
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.id) AS a, LAST(A.id) AS a2, FIRST(B.id) AS b, LAST(B.id) AS b2, LAST(C.id) AS c
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO FIRST C
  PATTERN (A B* C)
  DEFINE A AS A.px > 4, B AS B.px > LAST(B.px, 1) OR LAST(B.px, 1) IS NULL, C AS C.px > 1
) AS m;
INSERT INTO reluctant
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.id) AS a, LAST(A.id) AS a2, FIRST(B.id) AS b, LAST(B.id) AS b2, LAST(C.id) AS c
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A+? B*? C)
  DEFINE A AS A.px > 2, B AS B.px > 2, C AS C.px < 5
) AS m;
INSERT INTO ends_reluctant
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.id) AS a, LAST(A.id) AS a2, FIRST(B.id) AS b, LAST(B.id) AS b2, LAST(C.id) AS c
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO LAST C
  PATTERN (A B+ C{1,3}?)
  DEFINE B AS B.px > A.px
) AS m;
INSERT INTO ends_optional
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.id) AS a, LAST(A.id) AS a2, FIRST(B.id) AS b, LAST(B.id) AS b2, LAST(C.id) AS c
  ONE ROW PER MATCH
  PATTERN (A B? C*?)
  DEFINE A AS A.px > 4
) AS m;
INSERT INTO optional_between
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.id) AS a, LAST(A.id) AS a2, FIRST(B.id) AS b, LAST(B.id) AS b2, LAST(C.id) AS c
  ONE ROW PER MATCH
  PATTERN (A B? C)
  DEFINE A AS A.px > 4, B AS B.px < 5, C AS C.px > 5
) AS m;
INSERT INTO optional_first
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.id) AS a, LAST(A.id) AS a2, FIRST(B.id) AS b, LAST(B.id) AS b2, LAST(C.id) AS c
  ONE ROW PER MATCH
  PATTERN (A? B C)
  DEFINE A AS A.px > 7, B AS B.px > 4, C AS C.px > 2
) AS m;
INSERT INTO nested
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES A.id AS a, C.id AS b
  ONE ROW PER MATCH
  PATTERN ((A (B) C))
  DEFINE B AS B.px > A.px
) AS m;
INSERT INTO skip_to_first
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.id) AS a, LAST(A.id) AS a2, FIRST(B.id) AS b, LAST(B.id) AS b2, LAST(C.id) AS c
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO FIRST B
  PATTERN (A{2}? B+? C)
  DEFINE A AS A.px > 3, B AS B.px > 2, C AS C.px > 1
) AS m;
INSERT INTO skip_to_last
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.id) AS a, LAST(A.id) AS a2, FIRST(B.id) AS b, LAST(B.id) AS b2, LAST(C.id) AS c
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO LAST A
  PATTERN (A{2}? B+? C)
  DEFINE A AS A.px > 3, B AS B.px > 2, C AS C.px > 1
) AS m;
INSERT INTO skip_to
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.id) AS a, LAST(A.id) AS a2, FIRST(B.id) AS b, LAST(B.id) AS b2, LAST(C.id) AS c
  ONE ROW PER MATCH
  AFTER MATCH SKIP TO B
  PATTERN (A B{2,3}? C)
  DEFINE A AS A.px > 3, B AS B.px > 2, C AS C.px > 1
) AS m;
INSERT INTO within_short
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES A.id AS a, B.id AS b
  ONE ROW PER MATCH
  PATTERN (A B) WITHIN INTERVAL '1' SECOND
  DEFINE B AS B.px > A.px
) AS m;
INSERT INTO within_exact
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES A.id AS a, C.id AS b
  ONE ROW PER MATCH
  PATTERN (A B*? C) WITHIN INTERVAL '3' SECOND
  DEFINE C AS C.px > 10
) AS m;
INSERT INTO within_waits
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES A.id AS a, C.id AS b
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B*? C) WITHIN INTERVAL '00:08' MINUTE TO SECOND
  DEFINE C AS C.px > 10 AND C.id > A.id + 3
) AS m;
INSERT INTO no_partition
SELECT * FROM quotes MATCH_RECOGNIZE (
  ORDER BY ts
  MEASURES A.id AS a, LAST(B.id) AS b, COUNT(*) AS n, COUNT(B.px) AS nb
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A B+? C)
  DEFINE B AS B.px >= A.px OR B.px IS NULL, C AS C.px < LAST(B.px)
) AS m;
INSERT INTO two_keys
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym, name ORDER BY ts
  MEASURES A.id AS a, B.id AS b
  ONE ROW PER MATCH
  PATTERN (A B)
  DEFINE B AS B.px > A.px
) AS m;
INSERT INTO second_order
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts, px DESC, id
  MEASURES A.id AS a, B.id AS b
  ONE ROW PER MATCH
  PATTERN (A B)
  DEFINE B AS B.px > A.px
) AS m;
INSERT INTO aggregates
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES SUM(A.px) AS s, AVG(A.px) AS av, MIN(A.amt) AS mi, MAX(A.name) AS ma, SUM(A.amt) AS sa, AVG(A.amt) AS aa, COUNT(A.name) AS n, LISTAGG(A.name) AS l, B.id AS b
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A+? B)
  DEFINE A AS SUM(A.px) < 30, B AS B.px > 8 AND COUNT(A.px) > 1
) AS m;
INSERT INTO aggregates_of_expressions
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES SUM(A.px * 2 + 1) AS s, SUM(A.px) + COUNT(B.px) AS t, SUM(px) AS w, MAX(B.amt - 1) AS x
  ONE ROW PER MATCH
  AFTER MATCH SKIP PAST LAST ROW
  PATTERN (A{2} B+? C)
  DEFINE B AS AVG(A.px) < 12 AND MAX(A.px) + 1 > MIN(A.px), C AS SUM(B.amt) > 1.5 OR SUM(px) > 25
) AS m;
INSERT INTO expressions
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES UPPER(A.name) || '-' || COALESCE(LAST(B.name), 'none') AS n, LAST(A.px) + FIRST(A.px) * 2 AS e, CASE WHEN C.px > 5 THEN 'high' ELSE 'low' END AS w, CAST(A.ts AS STRING) AS t, 7 AS k
  ONE ROW PER MATCH
  PATTERN (A{2} B*? C)
  DEFINE C AS C.px > A.px
) AS m;
INSERT INTO functions_in_conditions
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES A.id AS a, B.id AS b
  ONE ROW PER MATCH
  PATTERN (A B)
  DEFINE A AS UPPER(A.name) LIKE 'A%' OR CHAR_LENGTH(A.name) > 3, B AS MOD(B.px, 2) = 0 AND ABS(B.amt) > 1 AND B.px IS DISTINCT FROM A.px
) AS m;
INSERT INTO fields_of_rows
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES LAST(A.r).x AS a, LAST(B.r).y AS b
  ONE ROW PER MATCH
  PATTERN (A B+ C)
  DEFINE B AS LAST(B.r).x >= LAST(A.r).x, C AS LAST(C.r).x < LAST(A.r).x
) AS m;
INSERT INTO offsets
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES FIRST(A.px, 1) AS f1, FIRST(A.px, 5) AS f5, LAST(A.px, 2) AS l2, LAST(id, 1) AS u, FIRST(id) AS fu, id AS lu
  ONE ROW PER MATCH
  PATTERN (A{3} B)
  DEFINE B AS B.px > LAST(A.px, 2)
) AS m;
INSERT INTO bare_columns
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES A.id AS a, B.id AS b
  ONE ROW PER MATCH
  PATTERN (A B)
  DEFINE B AS px > LAST(px, 1) AND FIRST(px) < 9
) AS m;
INSERT INTO decimals_and_texts
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES A.id AS a, B.id AS b
  ONE ROW PER MATCH
  PATTERN (A B)
  DEFINE B AS B.amt > A.amt * 2 OR B.name < A.name
) AS m;
INSERT INTO times_of_rows
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES A.id AS a, B.id AS b
  ONE ROW PER MATCH
  PATTERN (A B)
  DEFINE B AS B.ts > A.ts + INTERVAL '1' SECOND AND B.ts <= A.ts + INTERVAL '4' SECOND
) AS m;
INSERT INTO lower_case
SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES b.id AS a, `B`.id AS b
  ONE ROW PER MATCH
  PATTERN (b `B`)
  DEFINE `B` AS `B`.px > b.px
) AS m;
INSERT INTO counts
SELECT sym, COUNT(*) AS c, SUM(b) AS s FROM (SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES B.px AS b
  ONE ROW PER MATCH
  PATTERN (A B)
  DEFINE B AS B.px > A.px
) AS m) GROUP BY sym;
INSERT INTO windows
SELECT window_start, window_end, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE hits, DESCRIPTOR(rt), INTERVAL '10' SECOND)) GROUP BY window_start, window_end;
INSERT INTO matches_of_matches
SELECT * FROM hits MATCH_RECOGNIZE (PARTITION BY sym ORDER BY rt MEASURES A.up AS a, B.up AS b PATTERN (A B) DEFINE B AS B.up > A.up) AS m;
INSERT INTO of_windows
SELECT * FROM minutes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY wt
  MEASURES A.c AS a, B.s AS b
  ONE ROW PER MATCH
  PATTERN (A B)
  DEFINE B AS B.c <> A.c
) AS m;
INSERT INTO of_a_query
SELECT * FROM (SELECT id, sym, ts, px * 2 AS px FROM quotes WHERE px > 1 OR px IS NULL) MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES A.id AS a, B.id AS b
  ONE ROW PER MATCH
  PATTERN (A B)
  DEFINE B AS B.px > A.px
) AS m;
INSERT INTO filtered
SELECT m.a, m.b, m.sym FROM quotes AS q MATCH_RECOGNIZE (PARTITION BY sym ORDER BY ts MEASURES A.id AS a, B.id AS b PATTERN (A B) DEFINE B AS B.px > A.px) AS m WHERE m.a > 20 AND m.sym = 'A';
INSERT INTO joined
SELECT m.a, q.px FROM (SELECT * FROM quotes MATCH_RECOGNIZE (
  PARTITION BY sym ORDER BY ts
  MEASURES A.id AS a, B.id AS b
  ONE ROW PER MATCH
  PATTERN (A B)
  DEFINE B AS B.px > A.px
) AS m) AS m JOIN quotes AS q ON m.b = q.id;
END;
