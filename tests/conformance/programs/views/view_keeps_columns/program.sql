-- Views keep their columns, in order and type, when their table gets others.
CREATE TABLE t (
  a INT,
  b INT,
  s STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/t.jsonl',
  'format' = 'json'
);

CREATE VIEW v AS SELECT * FROM t;
CREATE VIEW w AS SELECT v.*, a + 1 AS c FROM v;

ALTER TABLE t MODIFY (b BIGINT FIRST, s STRING FIRST);
ALTER TABLE t ADD extra INT FIRST;

CREATE TABLE sink (
  a INT,
  b INT,
  s STRING,
  c INT
) WITH ('connector' = 'blackhole');

INSERT INTO sink
SELECT * FROM w;
