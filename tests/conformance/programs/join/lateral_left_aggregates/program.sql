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
  `lvl` STRING,
  `k` BIGINT,
  `s` INT,
  `m` BIGINT
) WITH ('connector' = 'print');

INSERT INTO sink
SELECT c.who, c.lvl, t.k, t.s, t.m FROM club c LEFT JOIN LATERAL (SELECT COUNT(*) AS k, SUM(n) AS s, COUNT(n) + 1 AS m FROM buys b WHERE b.who = c.who) AS t ON TRUE;
