"""Regular joins of all types: over rows that only come, over changes, with and without unique keys."""

from tests.restore.program import RestoreProgram, changes, lines

ROWS = """
CREATE TABLE l (k STRING, v BIGINT, f FLOAT) WITH ('connector' = 'filesystem', 'path' = '${dir}/l', 'format' = 'json');
CREATE TABLE r (k STRING, w BIGINT, b BYTES) WITH ('connector' = 'filesystem', 'path' = '${dir}/r', 'format' = 'json');
"""
BEFORE = {
    "l/0.json": lines("k v f", '"a" 1 0.5', '"a" 1 0.5', '"b" 2 1.5', "null 3 null", '"c" 4 2.5'),
    "r/0.json": lines("k w b", '"a" 1 "AQI="', '"a" 20 null', 'null 3 "AQI="', '"d" 4 "Aw=="'),
}
AFTER = {
    "l/1.json": lines("k v f", '"d" 5 3.5', '"a" 6 null', '"e" 7 4.5'),
    "r/1.json": lines("k w b", '"b" 2 "BA=="', '"b" 3 null', '"c" 1 "AQI="', '"z" 9 null'),
}
PAIRS = "SELECT l.k, v, f, r.k AS rk, w, b FROM l {} JOIN r ON l.k = r.k"
QUERIES = {
    "inner_join": PAIRS.format("INNER"),
    "left_join": PAIRS.format("LEFT"),
    "right_join": PAIRS.format("RIGHT"),
    "full_join": PAIRS.format("FULL"),
    "semi_join": "SELECT k, v FROM l WHERE k IN (SELECT k FROM r)",
    "anti_join": "SELECT k, v FROM l WHERE NOT EXISTS (SELECT * FROM r WHERE r.k = l.k)",
    "conditioned": PAIRS.format("LEFT") + " AND v >= w",
    "nulls_match": "SELECT v, w FROM l JOIN r ON l.k IS NOT DISTINCT FROM r.k",
    "no_key": "SELECT v, w FROM l JOIN r ON v < w",
    "self_join": "SELECT x.v, y.v AS v2 FROM l AS x JOIN l AS y ON x.k = y.k",
}
ADDED = RestoreProgram("stream-exec-join_1", "added", ROWS, QUERIES, BEFORE, AFTER)
_HINT = "/*+ STATE_TTL('l' = '36500 d', 'r' = '20000 d') */"
AGED = RestoreProgram(
    "stream-exec-join_1", "ttl", ROWS,
    {
        "inner_join": PAIRS.format("INNER"),
        "full_join": PAIRS.format("FULL").replace("SELECT", f"SELECT {_HINT}"),
    },
    BEFORE, AFTER,
)  # fmt: skip
CHANGES = """
CREATE TABLE l (id INT NOT NULL, k STRING, v BIGINT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/l', 'format' = 'debezium-json');
CREATE TABLE r (id INT NOT NULL, k STRING, w BIGINT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/r', 'format' = 'debezium-json');
CREATE TABLE by_key (id INT NOT NULL, v BIGINT, w BIGINT, PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'blackhole');
"""
CHANGED = {
    "l/0.json": changes(
        "id k v", '+ 1 "a" 1', '+ 2 "a" 2', '+ 3 "b" 3', '= 2 "a" 2 -> 2 "b" 2', "+ 4 null 4", '+ 5 "c" 5'
    ),
    "r/0.json": changes("id k w", '+ 1 "a" 10', '+ 2 "b" 20', "+ 3 null 30", '- 1 "a" 10', '+ 4 "a" 40'),
}
LATER = {
    "l/1.json": changes("id k v", '- 1 "a" 1', '= 3 "b" 3 -> 3 "a" 33', '+ 6 "d" 6', '= 4 null 4 -> 4 "a" 4'),
    "r/1.json": changes("id k w", '= 2 "b" 20 -> 2 "c" 20', "- 3 null 30", '+ 5 "d" 50', '+ 6 "a" 60'),
}
_PAIRS = "SELECT l.id, l.k, v, r.id AS rid, r.k AS rk, w FROM l {} JOIN r ON {}"
_KEYED = {kind.lower() + "_join": _PAIRS.format(kind, "l.k = r.k") for kind in ("INNER", "LEFT", "RIGHT", "FULL")}
UPDATED = RestoreProgram(
    "stream-exec-join_1", "updated", CHANGES,
    {
        **_KEYED,
        "semi_join": "SELECT id, k, v FROM l WHERE k IN (SELECT k FROM r)",
        "anti_join": "SELECT id, k, v FROM l WHERE NOT EXISTS (SELECT * FROM r WHERE r.k = l.k)",
        "of_unique_keys": _PAIRS.format("LEFT", "l.id = r.id"),
        "by_key": "SELECT l.id, v, w FROM l LEFT JOIN r ON l.id = r.id",
        "of_totals": "SELECT x.k, x.s, y.c FROM (SELECT k, SUM(v) AS s FROM l GROUP BY k) AS x "
        "FULL JOIN (SELECT k, COUNT(*) AS c FROM r GROUP BY k) AS y ON x.k = y.k",
    },
    CHANGED, LATER,
)  # fmt: skip
