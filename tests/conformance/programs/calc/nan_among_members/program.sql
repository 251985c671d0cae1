-- A NaN is equal to nothing: not to a member of IN, and not to itself.
CREATE TABLE t (
  id INT,
  a DOUBLE,
  b DOUBLE,
  c DOUBLE,
  d DOUBLE
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/t.jsonl',
  'format' = 'json'
);
CREATE TABLE sink (
  id INT,
  a_member BOOLEAN,
  no_member BOOLEAN,
  perhaps BOOLEAN,
  surely BOOLEAN,
  small BOOLEAN,
  equal BOOLEAN,
  less BOOLEAN
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT id, x IN (y, 1.5E0) AS a_member, x NOT IN (y, 1.5E0) AS no_member, x IN (1.5E0, y, CAST(NULL AS DOUBLE)) AS perhaps, x NOT IN (1E0, 2E0, 3E0, 4E0, y) AS surely, CAST(x AS FLOAT) IN (CAST(y AS FLOAT), CAST(1.5 AS FLOAT)) AS small, x = y AS equal, x < y OR x > y AS less
FROM (SELECT id, a / b AS x, c / d AS y FROM t) WHERE x IS NULL OR x NOT IN (8E0, 9E0);
