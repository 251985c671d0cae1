"""Where rows come from and go to: sources go on where they were, sinks take what comes."""

from tests.restore.program import RestoreProgram, lines

SOURCES = RestoreProgram(
    "stream-exec-table-source-scan_1", "generators",
    """
CREATE TABLE numbers (id BIGINT, k INT)
  WITH ('connector' = 'datagen', 'number-of-rows' = '${rows}', 'fields.id.kind' = 'sequence', 'fields.id.start' = '1',
    'fields.id.end' = '1000', 'fields.k.min' = '0', 'fields.k.max' = '3');
CREATE TABLE auctions (kind INT, auction ROW<id BIGINT, category BIGINT>)
  WITH ('connector' = 'nexmark', 'events.num' = '${rows}');
""",
    {
        "generated": "SELECT k, COUNT(*) AS c, SUM(id) AS s FROM numbers GROUP BY k",
        "events": "SELECT kind, COUNT(*) AS c, SUM(auction.id) AS s FROM auctions GROUP BY kind",
    },
    {}, {}, numbers=(300, 500),
)  # fmt: skip
FORMATS = RestoreProgram(
    "stream-exec-table-source-scan_1", "formats",
    """
CREATE TABLE j (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${dir}/j', 'format' = 'json');
CREATE TABLE d (k STRING, v INT) WITH ('connector' = 'duckdb', 'path' = '${dir}/d.duckdb', 'table' = 'd');
CREATE TABLE c (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${dir}/c', 'format' = 'csv');
""",
    {
        "all_rows": "SELECT k, v, 'json' AS f FROM j UNION ALL SELECT k, v, 'csv' FROM c "
        "UNION ALL SELECT k, v, 'duckdb' FROM d",
        "counted": "SELECT k, SUM(v) AS v FROM (SELECT k, v FROM j UNION ALL SELECT k, v FROM c) GROUP BY k",
        "constants": "SELECT k, COUNT(*) AS c FROM (VALUES ('a', 1), ('b', 2), ('a', 3)) AS x (k, v) GROUP BY k",
        "sets": "SELECT k, v, COUNT(*) AS c FROM j GROUP BY CUBE (k, v)",
    },
    {
        "j/0.json": lines("k v", '"a" 1', '"b" 2'),
        "c/0.csv": "a,10\nc,30\n",
        "d.duckdb": "CREATE TABLE d AS SELECT 'd' AS k, 7 AS v",
    },
    {"j/1.json": lines("k v", '"a" 4', '"c" 5'), "c/1.csv": "b,20\n"},
)  # fmt: skip
_ROWS = {"j/0.json": lines("k v", '"a" 1', '"b" 2')}, {"j/1.json": lines("k v", '"a" 4', '"c" 5')}
SINKS = RestoreProgram(
    "stream-exec-sink_1", "connectors",
    """
CREATE TABLE j (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${dir}/j', 'format' = 'json');
CREATE TABLE files (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${dir}/files', 'format' = 'json');
CREATE TABLE base (k STRING, v INT) WITH ('connector' = 'duckdb', 'path' = '${dir}/base.duckdb', 'table' = 'rows');
CREATE TABLE appended (k STRING, v INT)
  WITH ('connector' = 'spark', 'spark.format' = 'parquet', 'spark.options.path' = '${dir}/appended');
CREATE TABLE away (k STRING, v INT) WITH ('connector' = 'blackhole');
CREATE TABLE kept (k STRING, v INT) WITH ('connector' = 'collect', 'name' = 'restore-kept');
CREATE TABLE shown (k STRING, v INT) WITH ('connector' = 'print');
""",
    dict.fromkeys(("files", "base", "appended", "away", "kept", "shown"), "SELECT k, v FROM j"),
    *_ROWS,
    landed={
        "files": "SELECT k, v FROM read_json('${dir}/files/*', columns = {k: 'VARCHAR', v: 'INT'}, format = 'nd')",
        "base": "ATTACH '${dir}/base.duckdb' AS base (READ_ONLY); SELECT k, v FROM base.rows",
        "appended": "SELECT k, v FROM read_parquet('${dir}/appended/*.parquet')",
    },
)  # fmt: skip
SPARK_SOURCE = RestoreProgram(
    "stream-exec-table-source-scan_1", "spark_source",
    """
CREATE TABLE s (`value` STRING)
  WITH ('connector' = 'spark', 'spark.format' = 'text', 'spark.options.path' = '${dir}/s', 'spark.bounded' = 'true');
""",
    {"all_rows": "SELECT `value` FROM s"},
    {"s/0.txt": "x\n"}, {"s/1.txt": "y\n"}, refused="cannot go on from the savepoint's position",
)  # fmt: skip
_FOLDERS = """
CREATE TABLE t (k STRING, v INT, d STRING) PARTITIONED BY (d)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/t', 'format' = 'json');
CREATE TABLE u LIKE t;
"""
FOLDERS = RestoreProgram(
    "stream-exec-table-source-scan_2", "folders", _FOLDERS,
    {
        "some": "SELECT k, v FROM t WHERE d = 'x' AND v > 1",
        "last": "SELECT d, LAST_VALUE(v) FROM u WHERE d <> 'x' GROUP BY d",
    },
    {"t/d=x/0.json": lines("k v", '"a" 1', '"b" 2'), "t/d=y/0.json": lines("k v", '"c" 3', '"d" 4')},
    {f"t/d={d}/1.json": lines("k v", row) for d, row in {"x": '"a" 4', "y": '"c" 5', "z": '"c" 6'}.items()},
    {"table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
)  # fmt: skip
