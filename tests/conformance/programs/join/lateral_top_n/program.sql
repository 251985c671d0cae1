CREATE TABLE buys (
  id INT,
  who STRING,
  n INT,
  ts TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/buys.jsonl',
  'format' = 'json'
);

CREATE TABLE club (
  who STRING,
  lvl STRING,
  pts INT,
  since TIMESTAMP(3)
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/club.jsonl',
  'format' = 'json'
);

CREATE TABLE sink (
  `who` STRING,
  `id` INT,
  `n` INT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT s.who, t.id, t.n FROM (SELECT DISTINCT who FROM buys) s, LATERAL (SELECT id, n FROM buys WHERE who = s.who ORDER BY n DESC LIMIT 2) AS t;
