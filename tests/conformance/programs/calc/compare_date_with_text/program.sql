-- A DATE column compared with a text column: equality is NULL for a text that is no date, IS DISTINCT FROM is TRUE; a text is looked for among texts.

CREATE TABLE c (
  id INT,
  d DATE,
  s STRING
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/c.jsonl',
  'format' = 'json'
);

CREATE TABLE sink (
  `id` INT,
  `eq` BOOLEAN,
  `ne` BOOLEAN,
  `simple` INT,
  `differs` BOOLEAN,
  `member` BOOLEAN
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT id, d = s AS eq, s <> d AS ne, CASE d WHEN s THEN 1 ELSE 0 END AS simple, d IS DISTINCT FROM s AS differs,
  s IN (d) AS member
FROM c;
