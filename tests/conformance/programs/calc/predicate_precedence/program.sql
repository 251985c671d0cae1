-- IN, BETWEEN and LIKE bind tighter than = and <, these tighter than IS; NOT is below them and may stand behind =.
CREATE TABLE t (
  a INT,
  b INT,
  s STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/t.jsonl',
  'format' = 'json'
);

CREATE TABLE sink (
  b INT,
  p BOOLEAN,
  q BOOLEAN,
  r BOOLEAN,
  u BOOLEAN,
  v BOOLEAN,
  w BOOLEAN
) WITH ('connector' = 'blackhole');

INSERT INTO sink
SELECT b, FALSE = TRUE IN (TRUE, FALSE), FALSE = b BETWEEN 1 AND 3, FALSE = s LIKE 'x_', a = b IS NULL, TRUE = NOT a < b,
  NOT a > 1 = b IN (1, 2) IS NULL
FROM t WHERE TRUE = b IN (2, 3, 5);
