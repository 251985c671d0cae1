-- Compiled by the wheel of 2.4 to plan-2.4.json: what it made of lookup joins with several equalities of a column.
CREATE TABLE l (id INT, a INT, b INT, pt AS PROCTIME())
  WITH ('connector' = 'filesystem', 'path' = '/nowhere/l', 'format' = 'json');
CREATE TABLE r (e INT, f INT, name STRING) WITH ('connector' = 'duckdb', 'path' = '/nowhere/d', 'table' = 'r');
CREATE TABLE before_others (id INT, name STRING) WITH ('connector' = 'blackhole');
CREATE TABLE before_constants (id INT, name STRING) WITH ('connector' = 'blackhole');
CREATE TABLE one_constant (id INT, name STRING) WITH ('connector' = 'blackhole');
CREATE TABLE no_trace (id INT, name STRING) WITH ('connector' = 'blackhole');
CREATE TABLE whole (id INT, name STRING) WITH ('connector' = 'blackhole');
EXECUTE STATEMENT SET BEGIN
INSERT INTO before_others
  SELECT l.id, r.name FROM l JOIN r FOR SYSTEM_TIME AS OF l.pt AS r ON l.a = r.e AND l.b = r.f WHERE r.e = 2;
INSERT INTO before_constants
  SELECT l.id, r.name FROM l JOIN r FOR SYSTEM_TIME AS OF l.pt AS r ON l.a = r.e AND r.f = 1 AND r.e = 3;
INSERT INTO one_constant SELECT l.id, r.name FROM l JOIN r FOR SYSTEM_TIME AS OF l.pt AS r ON l.a = r.e AND r.e = 4;
INSERT INTO no_trace SELECT l.id, r.name FROM l JOIN r FOR SYSTEM_TIME AS OF l.pt AS r ON l.a = r.e AND l.b = r.e;
INSERT INTO whole SELECT l.id, r.name FROM l JOIN r FOR SYSTEM_TIME AS OF l.pt AS r ON l.a = r.e AND r.f = 5;
END;
