"""GROUP BY in one and in two phases, over rows that only come and rows that also go."""

from tests.restore.program import RestoreProgram, changes, lines

EVENTS = """
CREATE TABLE t (k STRING, n INT, v BIGINT, d DECIMAL(10, 2), f DOUBLE, s STRING)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/t', 'format' = 'json');
CREATE TABLE keyed (k STRING, s INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'blackhole');
"""
ACCOUNTS = """
CREATE TABLE a (id INT NOT NULL, k STRING, n INT, v BIGINT, d DECIMAL(10, 2), f DOUBLE, s STRING,
    PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/a', 'format' = 'debezium-json');
"""
BEFORE = {
    "t/0.json": lines(
        "k n v d f s",
        '"a" 1 10 1.25 0.5 "x"',
        '"a" 2 10 2.50 1.5 "y"',
        '"b" 3 30 null 2.5 null',
        'null 4 null 4.00 null "z"',
        '"b" 5 31 5.75 4.5 "x"',
    )
}
AFTER = {
    "t/1.json": lines(
        "k n v d f s",
        '"a" 1 10 1.25 0.5 "x"',
        '"a" 7 70 7.00 7.5 "w"',
        'null 8 80 8.25 8.5 "z"',
        '"c" 9 90 9.00 9.5 "v"',
        '"b" 5 30 null null "x"',
    )
}
CHANGES_BEFORE = {
    "a/0.json": changes(
        "id k n v d f s",
        '+ 1 "a" 1 10 1.25 0.5 "x"',
        '+ 2 "a" 2 20 2.50 1.5 "y"',
        '+ 3 "b" 3 30 null 2.5 null',
        '+ 4 null 4 null 4.00 null "z"',
        '= 2 "a" 2 20 2.50 1.5 "y" -> 2 "a" 2 21 2.75 1.5 "y"',
        '+ 5 "b" 5 31 5.75 4.5 "x"',
        '+ 6 "d" 6 60 6.00 6.5 "u"',
    )
}
CHANGES_AFTER = {
    "a/1.json": changes(
        "id k n v d f s",
        '- 1 "a" 1 10 1.25 0.5 "x"',
        '= 3 "b" 3 30 null 2.5 null -> 3 "a" 3 33 3.25 2.5 "q"',
        '- 6 "d" 6 60 6.00 6.5 "u"',
        '+ 7 "e" 7 70 7.00 7.5 "t"',
        '- 4 null 4 null 4.00 null "z"',
    )
}
PLAIN = "COUNT(*) AS c, COUNT(d) AS cd, SUM(n) AS sn, SUM(v) AS sv, SUM(d) AS sd, AVG(v) AS av, AVG(d) AS ad"
SPREAD = "VAR_POP(f) AS vp, VAR_SAMP(f) AS vs, STDDEV_POP(f) AS dp, STDDEV_SAMP(f) AS ds"
FILTERED = "SUM(v) FILTER (WHERE n > 2) AS fv, COUNT(*) FILTER (WHERE s = 'x') AS fc"
EXTREMES = "MIN(v) AS mv, MAX(v) AS xv, MIN(s) AS ms, MAX(d) AS xd"
DISTINCT = (
    "COUNT(DISTINCT v) AS dv, SUM(DISTINCT n) AS dn, COUNT(DISTINCT s) FILTER (WHERE n > 1) AS fs, "
    "LISTAGG(DISTINCT s) AS ls"
)
ARRIVAL = "FIRST_VALUE(v) AS fi, LAST_VALUE(v) AS la, LISTAGG(s, '|') AS li, ARRAY_AGG(n) AS ar, COLLECT(s) AS co"
JSON = (
    "JSON_OBJECTAGG(KEY CAST(n AS STRING) VALUE v NULL ON NULL) AS jo, JSON_ARRAYAGG(s ABSENT ON NULL) AS ja, "
    "JSON_OBJECTAGG(KEY CAST(n AS STRING) VALUE v ABSENT ON NULL) AS jb, JSON_ARRAYAGG(s NULL ON NULL) AS jc"
)
KEYED = "SELECT k, SUM(n) AS s FROM t WHERE k IS NOT NULL GROUP BY k"
ONE = {"table.optimizer.agg-phase-strategy": "ONE_PHASE"}


def queries(table: str) -> dict[str, str]:
    """All functions, by key, by two keys, and over all rows."""
    return {
        "plain": f"SELECT k, {PLAIN}, {SPREAD} FROM {table} GROUP BY k",
        "filtered": f"SELECT k, {FILTERED}, {EXTREMES} FROM {table} GROUP BY k",
        "unique_values": f"SELECT k, {DISTINCT} FROM {table} GROUP BY k",
        "arrival": f"SELECT k, {ARRIVAL} FROM {table} GROUP BY k",
        "jsons": f"SELECT k, {JSON} FROM {table} GROUP BY k",
        "two_keys": f"SELECT n, k, SUM(v) AS sv FROM {table} GROUP BY n, k",
        "no_key": f"SELECT {PLAIN}, {EXTREMES}, {DISTINCT} FROM {table}",
        "keys_only": f"SELECT DISTINCT k FROM {table}",
    }


GROUPS = RestoreProgram(
    "stream-exec-group-aggregate_1", "added", EVENTS, queries("t"), BEFORE, AFTER, ONE,
)  # fmt: skip
GROUPS_TAKEN_BACK = RestoreProgram(
    "stream-exec-group-aggregate_1", "taken_back", ACCOUNTS, queries("a"), CHANGES_BEFORE, CHANGES_AFTER, ONE,
)  # fmt: skip
GROUPS_AGED = RestoreProgram(
    "stream-exec-group-aggregate_1", "ttl", EVENTS,
    {
        "plain": f"SELECT k, {PLAIN} FROM t GROUP BY k",
        "unique_values": f"SELECT k, {DISTINCT} FROM t GROUP BY k",
        "keyed": KEYED,
    },
    BEFORE, AFTER, {**ONE, "table.exec.state.ttl": "36500 d"},
)  # fmt: skip
_PERCENTILES = "PERCENTILE(v, 0.4) AS p, PERCENTILE(DISTINCT n, ARRAY[0.25, 1]) AS pd, COUNT(DISTINCT v) AS c"
_FREQUENT = "PERCENTILE(v, 0.4, n) AS pf, PERCENTILE(DISTINCT v, ARRAY[0.3], n) FILTER (WHERE s = 'x') AS pg"
PERCENTILES = RestoreProgram(
    "stream-exec-group-aggregate_1", "percentiles", EVENTS + ACCOUNTS,
    {
        "added": f"SELECT k, {_PERCENTILES}, {_FREQUENT} FROM t GROUP BY k",
        "taken_back": f"SELECT k, {_PERCENTILES}, {_FREQUENT} FROM a GROUP BY k",
    },
    {**BEFORE, **CHANGES_BEFORE}, {**AFTER, **CHANGES_AFTER}, ONE,
)  # fmt: skip
_MERGED = {
    "plain": f"SELECT k, {PLAIN}, {SPREAD}, {EXTREMES}, {FILTERED} FROM t GROUP BY k",
    "two_keys": "SELECT n, k, SUM(v) AS sv FROM t GROUP BY n, k",
    "no_key": f"SELECT {PLAIN} FROM t",
}
MERGED = RestoreProgram("stream-exec-global-group-aggregate_1", "added", EVENTS, _MERGED, BEFORE, AFTER)
MERGED_TAKEN_BACK = RestoreProgram(
    "stream-exec-global-group-aggregate_1", "taken_back", ACCOUNTS,
    {
        "plain": f"SELECT k, {PLAIN}, {FILTERED} FROM a GROUP BY k",
        "no_key": f"SELECT {PLAIN} FROM a",
    },
    CHANGES_BEFORE, CHANGES_AFTER,
)  # fmt: skip
MERGED_AGED = RestoreProgram(
    "stream-exec-global-group-aggregate_1", "ttl", EVENTS,
    {"plain": f"SELECT k, {PLAIN} FROM t GROUP BY k", "keyed": KEYED},
    BEFORE, AFTER, {"table.exec.state.ttl": "36500 d"},
)  # fmt: skip
IN_PARTS = {
    "table.optimizer.distinct-agg.split.enabled": "true",
    "table.optimizer.distinct-agg.split.bucket-num": "3",
}
BY_VALUE = "COUNT(DISTINCT v) AS dv, SUM(DISTINCT v) AS sv, COUNT(*) AS c, AVG(d) AS ad"
SEVERAL = "COUNT(DISTINCT s) AS ds, COUNT(DISTINCT v) FILTER (WHERE n > 2) AS fv, AVG(DISTINCT n) AS an, SUM(n) AS sn"
SPLIT = RestoreProgram(
    "stream-exec-incremental-group-aggregate_1", "added", EVENTS,
    {
        "one_column": f"SELECT k, {BY_VALUE}, MIN(s) AS ms FROM t GROUP BY k",
        "no_key": f"SELECT {SEVERAL} FROM t",
    },
    BEFORE, AFTER, IN_PARTS,
)  # fmt: skip
SPLIT_TAKEN_BACK = RestoreProgram(
    "stream-exec-incremental-group-aggregate_1", "taken_back", ACCOUNTS,
    {
        "one_column": f"SELECT k, {BY_VALUE} FROM a GROUP BY k",
        "several": f"SELECT k, {SEVERAL} FROM a GROUP BY k",
        "in_levels": f"SELECT k, {BY_VALUE.rpartition(',')[0]}, MIN(v) AS mv FROM a GROUP BY k",
    },
    CHANGES_BEFORE, CHANGES_AFTER, IN_PARTS,
)  # fmt: skip
SPLIT_AGED = RestoreProgram(
    "stream-exec-incremental-group-aggregate_1", "ttl", EVENTS,
    {"one_column": f"SELECT k, {BY_VALUE} FROM t GROUP BY k"},
    BEFORE, AFTER,
    {
        **IN_PARTS,
        "table.exec.state.ttl": "36500 d",
        "table.exec.mini-batch.enabled": "true",
        "table.exec.mini-batch.size": "1000",
        "table.exec.uid.format": "<id>_<type>-<version>_<operator>",
    },
)  # fmt: skip
