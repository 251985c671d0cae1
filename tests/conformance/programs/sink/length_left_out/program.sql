-- VARCHAR and VARBINARY without a length are the longest, in columns, casts and nested; CHAR and BINARY have one place.
CREATE TABLE evt (
  id INT,
  color VARCHAR,
  note CHAR VARYING
) WITH (
  'connector' = 'filesystem',
  'path' = '${dir}/input/evt.jsonl',
  'format' = 'json'
);

CREATE TABLE sink (
  id INT,
  v VARCHAR,
  n CHARACTER VARYING,
  c VARCHAR,
  b VARCHAR,
  f CHAR,
  nested ROW<a VARCHAR>
) WITH ('connector' = 'blackhole');

INSERT INTO sink
SELECT id, color, note, CAST(id + 1000 AS VARCHAR), CAST(CAST(color AS VARBINARY) AS VARCHAR), CAST(color AS CHAR),
  CAST(ROW(color) AS ROW<a VARCHAR>)
FROM evt;
