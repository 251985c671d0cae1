"""Sinks that settle the order of updates, and what else stands before a table."""

from tests.restore.program import RestoreProgram, changes, lines

CHANGES = """
CREATE TABLE a (id INT NOT NULL, g STRING NOT NULL, v BIGINT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/a', 'format' = 'debezium-json');
CREATE TABLE last_of_group (g STRING NOT NULL, id INT, v BIGINT, PRIMARY KEY (g) NOT ENFORCED)
  WITH ('connector' = 'blackhole');
CREATE TABLE last_of_values (v BIGINT, g STRING, PRIMARY KEY (v) NOT ENFORCED) WITH ('connector' = 'blackhole');
"""
BEFORE = {
    "a/0.json": changes(
        "id g v", '+ 1 "x" 1', '+ 2 "x" 2', '+ 3 "y" 3', '= 2 "x" 2 -> 2 "y" 2', '+ 4 "x" 4', '+ 5 "z" 1'
    )
}
AFTER = {"a/1.json": changes("id g v", '- 4 "x" 4', '= 2 "y" 2 -> 2 "x" 2', '- 5 "z" 1', '+ 6 "y" 3')}
LAST = RestoreProgram(
    "stream-exec-sink_1", "deduplicate", CHANGES,
    {
        "last_of_group": "SELECT g, id, v FROM a ON CONFLICT DO DEDUPLICATE",
        "last_of_values": "SELECT v, g FROM a ON CONFLICT DO DEDUPLICATE",
    },
    BEFORE, AFTER,
)  # fmt: skip
LAST_AGED = RestoreProgram(
    "stream-exec-sink_1", "ttl", CHANGES, {"last_of_group": "SELECT g, id, v FROM a ON CONFLICT DO DEDUPLICATE"},
    BEFORE, AFTER, {"table.exec.state.ttl": "36500 d"},
)  # fmt: skip
POINTS = """
CREATE TABLE p (k STRING, v BIGINT, n BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/p', 'format' = 'json');
CREATE TABLE first_kept (k STRING, v BIGINT NOT NULL, PRIMARY KEY (v) NOT ENFORCED) WITH ('connector' = 'blackhole');
CREATE TABLE alone (k STRING, n BIGINT NOT NULL, PRIMARY KEY (n) NOT ENFORCED) WITH ('connector' = 'blackhole');
"""
_POINTS_BEFORE = lines(
    "k v n ts",
    '"a" 1 1 "2024-01-01_00:00:01"',
    '"b" 1 2 "2024-01-01_00:00:05"',
    '"c" 2 3 "2024-01-01_00:00:06"',
    '"a" 4 4 "2024-01-01_00:00:06.500"',
).replace("_", " ")
_POINTS_AFTER = lines(
    "k v n ts",
    '"d" 2 5 "2024-01-01_00:00:07"',
    '"e" 3 6 "2024-01-01_00:00:20"',
    '"b" 3 7 "2024-01-01_00:00:40"',
).replace("_", " ")
CONFLICTS = RestoreProgram(
    "stream-exec-sink_1", "conflicts", POINTS,
    {
        "first_kept": "SELECT k, MAX(v) AS v FROM p GROUP BY k ON CONFLICT DO NOTHING",
        "alone": "SELECT k, MAX(n) AS n FROM p GROUP BY k ON CONFLICT DO ERROR",
    },
    {"p/0.json": _POINTS_BEFORE}, {"p/1.json": _POINTS_AFTER},
    {"table.exec.watermark.granularity": "row"},
)  # fmt: skip
EVERYTHING = """
CREATE TABLE t (k STRING, n INT, v BIGINT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/t', 'format' = 'json');
CREATE TABLE a (id INT NOT NULL, g STRING NOT NULL, v BIGINT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/a', 'format' = 'debezium-json');
CREATE TABLE short (k VARCHAR(2) NOT NULL, g VARCHAR(3), PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
"""


def timed(*rows: str) -> str:
    """Rows with a time, in which ``_`` stands for the blank."""
    return lines("k n v ts", *rows).replace("_", " ")


OPTIONS = RestoreProgram(
    "stream-exec-sink_1", "options", EVERYTHING,
    {
        "short": "SELECT g, CAST(id AS STRING) AS g2 FROM a ON CONFLICT DO DEDUPLICATE",
        "grouped": "SELECT g, COUNT(DISTINCT v) AS c FROM a GROUP BY g",
        "merged": "SELECT k, SUM(n) AS c FROM t GROUP BY k",
        "sets": "SELECT k, n, COUNT(DISTINCT v) AS c FROM t GROUP BY GROUPING SETS ((k), (n), ())",
        "windows": "SELECT k, window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), "
        "INTERVAL '10' SECOND)) GROUP BY k, window_start, window_end",
        "bare": "SELECT k, window_start, n + 1 AS m FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND))",
        "first_rows": "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS rn FROM t) "
        "WHERE rn = 1",
        "joined": "SELECT t.k, a.v FROM t LEFT JOIN a ON t.n = a.id",
    },
    {
        "t/0.json": timed('"a" 1 1 "2024-01-01_00:00:01"', '"b" 2 2 "2024-01-01_00:00:09"'),
        "a/0.json": changes("id g v", '+ 1 "x" 1', '+ 2 "longer" 2', '+ 3 "y" 3'),
    },
    {
        "t/1.json": timed('"a" 3 3 "2024-01-01_00:00:08"', '"c" 1 4 "2024-01-01_00:00:29"'),
        "a/1.json": changes("id g v", '- 1 "x" 1', '= 2 "longer" 2 -> 2 "x" 2', '+ 4 "y" 4'),
    },
    {
        "table.local-time-zone": "Europe/Berlin",
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.size": "1000",
        "table.exec.mini-batch.allow-latency": "1 s",
        "table.exec.sink.not-null-enforcer": "DROP",
        "table.exec.sink.type-length-enforcer": "TRIM_PAD",
        "table.exec.sink.upsert-materialize": "FORCE",
        "table.exec.source.cdc-events-duplicate": "true",
        "table.exec.source.idle-timeout": "1 s",
        "table.exec.watermark.granularity": "row",
        "table.exec.uid.format": "<id>_<type>-<version>_<operator>",
    },
)  # fmt: skip
SETTLED = RestoreProgram(
    "stream-exec-sink_2", "settled",
    CHANGES + POINTS + """
CREATE TABLE short (k VARCHAR(2) NOT NULL, g VARCHAR(3), PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
CREATE TABLE away (k STRING, v BIGINT) WITH ('connector' = 'blackhole');
""",
    {
        "last_of_group": LAST.queries["last_of_group"],
        "short": "SELECT g, CAST(id AS STRING) AS g2 FROM a ON CONFLICT DO DEDUPLICATE",
        **CONFLICTS.queries,
        "away": "SELECT k, v FROM p",
    },
    {**BEFORE, "p/0.json": _POINTS_BEFORE}, {**AFTER, "p/1.json": _POINTS_AFTER},
    {
        "table.exec.sink.not-null-enforcer": "DROP",
        "table.exec.sink.type-length-enforcer": "TRIM_PAD",
        "table.exec.sink.upsert-materialize": "FORCE",
        "table.exec.lateness.granularity": "row",
        "table.exec.uid.format": "<id>_<type>-<version>_<operator>",
    },
)  # fmt: skip
SETTLED_AGED = RestoreProgram(
    "stream-exec-sink_2", "ttl", CHANGES, LAST_AGED.queries, BEFORE, AFTER, LAST_AGED.configuration
)  # fmt: skip
