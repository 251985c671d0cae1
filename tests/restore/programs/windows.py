"""Windows that are open when the savepoint is taken."""

from tests.restore.program import RestoreProgram, changes, lines

EVENTS = """
CREATE TABLE t (k STRING, v BIGINT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/t', 'format' = 'json');
"""


def times(*rows: str) -> str:
    """Rows with a second of the first minute."""
    texts = []
    for row in rows:
        *values, second = row.split()
        texts.append(" ".join([*values, f'"2024-03-31T00:00:{int(second):02}"']))
    return lines("k v s ts", *texts).replace("T00:00", " 00:00")


BEFORE = {
    "t/0.json": times('"a" 1 "x" 1', '"a" 2 "y" 4', '"b" 3 "x" 9', '"a" 4 null 12', 'null 5 "z" 11', '"b" 6 "x" 13')
}
AFTER = {"t/1.json": times('"a" 7 "x" 14', '"b" 8 "w" 12', '"c" 9 "v" 13', '"a" 10 "x" 21', '"b" 11 "y" 33')}
LATE = {"t/1.json": times('"a" 7 "x" 14', '"b" 8 "w" 12', '"c" 9 "v" 5', '"a" 10 "x" 21', '"b" 11 "y" 33')}
"""One row is behind the watermark before; where watermarks are of batches, it would be late only because of the cut."""
CALLS = "COUNT(*) AS c, SUM(v) AS sv, AVG(v) AS av, MIN(v) AS mv, MAX(s) AS ms"
VALUES = "COUNT(DISTINCT s) AS ds, SUM(v) FILTER (WHERE s = 'x') AS fv, LISTAGG(s) AS li, FIRST_VALUE(v) AS fi"


def over(window: str, calls: str, keys: str = "k, ") -> str:
    """An aggregation over a window function."""
    return (
        f"SELECT {keys}window_start, window_end, {calls} FROM TABLE({window}) GROUP BY {keys}window_start, window_end"
    )


TUMBLE = "TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '10' SECOND)"
HOP = "HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '10' SECOND)"
CUMULATE = "CUMULATE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' SECOND, INTERVAL '15' SECOND)"
SHAPES = {
    "tumble": over(TUMBLE, CALLS),
    "tumble_values": over(TUMBLE, VALUES),
    "tumble_no_key": over(TUMBLE, CALLS, ""),
    "hop": over(HOP, CALLS),
    "hop_values": over(HOP, VALUES),
    "cumulate": over(CUMULATE, f"{CALLS}, {VALUES}"),
    "shifted": over(TUMBLE.replace("'10' SECOND", "'10' SECOND, INTERVAL '3' SECOND"), CALLS),
    "attached": (
        "SELECT window_start, window_end, COUNT(*) AS c FROM "
        f"(SELECT k, window_start, window_end, window_time FROM TABLE({HOP}) WHERE v > 1) "
        "GROUP BY window_start, window_end"
    ),
    "cascade": (
        "SELECT window_start, window_end, SUM(c) AS c FROM TABLE(TUMBLE((SELECT window_time, COUNT(*) AS c FROM "
        f"TABLE({TUMBLE}) GROUP BY window_start, window_end, window_time), DESCRIPTOR(window_time), "
        "INTERVAL '20' SECOND)) GROUP BY window_start, window_end"
    ),
    "bare": f"SELECT k, v, window_start, window_end, window_time FROM TABLE({CUMULATE})",
}
WINDOWS = RestoreProgram("stream-exec-window-aggregate_1", "shapes", EVENTS, SHAPES, BEFORE, AFTER)
BY_ROW = RestoreProgram(
    "stream-exec-watermark-assigner_1", "row", EVENTS,
    {"tumble": over(TUMBLE, CALLS), "hop": over(HOP, VALUES)},
    BEFORE, LATE, {"table.exec.watermark.granularity": "row"},
)  # fmt: skip
_LAST = "SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM t) WHERE n = 1"
TAKEN_BACK = RestoreProgram(
    "stream-exec-window-aggregate_1", "taken_back", EVENTS,
    {
        "tumble": "SELECT TUMBLE_START(ts, INTERVAL '10' SECOND) AS w, COUNT(*) AS c, SUM(v) AS sv, MAX(v) AS xv, "
        f"COUNT(DISTINCT v) AS dv FROM ({_LAST}) GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)",
        "hop": "SELECT HOP_END(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND) AS w, k, COUNT(*) AS c "
        f"FROM ({_LAST}) GROUP BY k, HOP(ts, INTERVAL '5' SECOND, INTERVAL '10' SECOND)",
    },
    BEFORE, LATE, {"table.exec.watermark.granularity": "row"},
)  # fmt: skip
LOCAL = RestoreProgram(
    "stream-exec-window-aggregate_1", "local_time",
    """
CREATE TABLE t (k STRING, v BIGINT, ts AS TO_TIMESTAMP_LTZ(v * 3600000, 3),
    WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/t', 'format' = 'json');
""",
    {"days": over(TUMBLE.replace("'10' SECOND", "'1' DAY"), "COUNT(*) AS c, SUM(v) AS sv")},
    {"t/0.json": lines("k v", '"a" 1', '"a" 20', '"b" 22', '"a" 23')},
    {"t/1.json": lines("k v", '"a" 24', '"b" 47', '"a" 75')},
    {"table.local-time-zone": "Europe/Berlin"},
)  # fmt: skip
DEDUPLICATED = {
    "first": "SELECT k, v, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM t) WHERE n = 1",
    "first_of_two": "SELECT k, s, v FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k, s ORDER BY ts) AS n FROM t) "
    "WHERE n = 1",
    "first_of_all": "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY ts) AS n FROM t) WHERE n = 1",
    "last": _LAST,
    "last_of_all": "SELECT k, v FROM (SELECT *, ROW_NUMBER() OVER (ORDER BY ts DESC) AS n FROM t) WHERE n = 1",
}
ROWS = RestoreProgram("stream-exec-deduplicate_1", "event_time", EVENTS, DEDUPLICATED, BEFORE, AFTER)
AGED = RestoreProgram(
    "stream-exec-deduplicate_1", "ttl", EVENTS, {"first": DEDUPLICATED["first"], "last": DEDUPLICATED["last"]},
    BEFORE, AFTER, {"table.exec.state.ttl": "36500 d"},
)  # fmt: skip
ARRIVAL = RestoreProgram(
    "stream-exec-deduplicate_1", "arrival", EVENTS, {"first": DEDUPLICATED["first"], "last": DEDUPLICATED["last"]},
    BEFORE, AFTER, edits=(('"isRowtime": true', '"isRowtime": false'),),
)  # fmt: skip
_ACCOUNTS = """
SET 'table.exec.source.cdc-events-duplicate' = 'true';
CREATE TABLE a (id INT NOT NULL, k STRING, v DECIMAL(30, 2), PRIMARY KEY (id) NOT ENFORCED)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/a', 'format' = 'debezium-json');
CREATE TABLE keyed (id INT NOT NULL, k STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'blackhole');
"""
_FIRST = changes("id k v", '+ 1 "a" 1.25', '+ 2 "b" 2.50', '+ 1 "a" 1.25', '= 2 "b" 2.50 -> 2 "c" 2.75', '+ 3 "c" 3')
_SECOND = changes("id k v", '+ 1 "a" 1.25', '= 2 "c" 2.75 -> 2 "d" 2.75', '- 3 "c" 3', '+ 4 "d" 4')
NORMALIZED = RestoreProgram(
    "stream-exec-changelog-normalize_1", "repeated", _ACCOUNTS,
    {"plain": "SELECT id, k, v FROM a", "keyed": "SELECT id, k FROM a", "summed": "SELECT k, SUM(v) FROM a GROUP BY k"},
    {"a/0.json": _FIRST}, {"a/1.json": _SECOND},
)  # fmt: skip
NORMALIZED_AGED = RestoreProgram(
    "stream-exec-changelog-normalize_1", "ttl", _ACCOUNTS, {"plain": "SELECT id, k, v FROM a"},
    {"a/0.json": _FIRST}, {"a/1.json": _SECOND}, {"table.exec.state.ttl": "36500 d"},
)  # fmt: skip
_ALL_OPTIONS = {
    "table.exec.lateness.granularity": "row",
    "table.exec.source.idle-timeout": "1 h",
    "table.exec.mini-batch.enabled": "true",
    "table.exec.mini-batch.size": "1000",
    "table.exec.mini-batch.allow-latency": "1 s",
    "table.exec.uid.format": "<id>_<type>-<version>_<operator>",
}
KEYS_ALONE = RestoreProgram(
    "stream-exec-deduplicate_2", "event_time", EVENTS, DEDUPLICATED, BEFORE, AFTER, _ALL_OPTIONS
)  # fmt: skip
KEYS_ALONE_AGED = RestoreProgram(
    "stream-exec-deduplicate_2", "ttl", EVENTS, {"first": DEDUPLICATED["first"], "last": DEDUPLICATED["last"]},
    BEFORE, AFTER, {"table.exec.state.ttl": "36500 d"},
)  # fmt: skip
AT_ONCE = RestoreProgram(
    "stream-exec-deduplicate_3", "at_once", EVENTS, DEDUPLICATED, BEFORE, AFTER, _ALL_OPTIONS
)  # fmt: skip
AT_ONCE_AGED = RestoreProgram(
    "stream-exec-deduplicate_3", "ttl", EVENTS, {"first": DEDUPLICATED["first"], "last": DEDUPLICATED["last"]},
    BEFORE, AFTER, {"table.exec.state.ttl": "36500 d", "table.exec.mini-batch.enabled": "true"},
)  # fmt: skip
WAITED_FOR = RestoreProgram(
    "stream-exec-deduplicate_3", "event_time", EVENTS, DEDUPLICATED, BEFORE, AFTER,
    {"table.exec.lateness.granularity": "row", "table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
)  # fmt: skip
FILTERED = RestoreProgram(
    "stream-exec-changelog-normalize_2", "filter", f"{_ACCOUNTS}CREATE TABLE b LIKE a;\n",
    {
        "plain": "SELECT id, k, v FROM a WHERE k <> 'd' AND v > 1.3",
        "keyed": "SELECT id, k FROM b WHERE k <> 'a'",
    },
    {"a/0.json": _FIRST}, {"a/1.json": _SECOND},
    {"table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
)  # fmt: skip
SESSION = "SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '4' SECOND)"
SESSIONS = {
    "session": over(SESSION, CALLS),
    "session_values": over(SESSION, VALUES),
    "session_no_key": over(SESSION.replace("PARTITION BY k", ""), CALLS, ""),
    "session_of_others": over(SESSION.replace("PARTITION BY k", "PARTITION BY s"), CALLS),
}
_SESSION_TAKEN_BACK = (
    "SELECT SESSION_START(ts, INTERVAL '4' SECOND) AS w, COUNT(*) AS c, SUM(v) AS sv, MAX(v) AS xv "
    f"FROM ({_LAST}) GROUP BY SESSION(ts, INTERVAL '4' SECOND)"
)
ALL_WINDOWS = RestoreProgram(
    "stream-exec-window-aggregate_2", "shapes", EVENTS,
    {each: SHAPES[each] for each in ("tumble", "tumble_values", "hop", "hop_values", "cumulate")}
    | SESSIONS | {"session_taken_back": _SESSION_TAKEN_BACK},
    BEFORE, AFTER, _ALL_OPTIONS | {"table.optimizer.agg-phase-strategy": "ONE_PHASE"},
)  # fmt: skip
SESSION_ROWS = RestoreProgram(
    "stream-exec-window-table-function_2", "sessions", EVENTS,
    {
        "bare": f"SELECT k, v, window_start, window_end, window_time FROM TABLE({SESSION})",
        "bare_no_key": f"SELECT v, window_end FROM TABLE({SESSION.replace('PARTITION BY k', '')})",
        "tumble": f"SELECT k, window_end FROM TABLE({TUMBLE})",
    },
    BEFORE, AFTER, _ALL_OPTIONS | {"table.local-time-zone": "Europe/Berlin"},
)  # fmt: skip
SESSIONS_LOCAL = RestoreProgram(
    "stream-exec-window-aggregate_2", "local_time",
    """
CREATE TABLE t (k STRING, v BIGINT, ts AS TO_TIMESTAMP_LTZ(v * 3600000, 3),
    WATERMARK FOR ts AS ts - INTERVAL '1' HOUR)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/t', 'format' = 'json');
""",
    {
        "sessions": "SELECT k, window_start, window_time, COUNT(*) AS c, SUM(v) AS sv "
        "FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), INTERVAL '3' HOUR)) "
        "GROUP BY k, window_start, window_end, window_time"
    },
    {"t/0.json": lines("k v", '"a" 1', '"a" 20', '"b" 22', '"a" 23')},
    {"t/1.json": lines("k v", '"a" 24', '"b" 47', '"a" 75')},
    {"table.local-time-zone": "Europe/Berlin"},
)  # fmt: skip
SLICES = RestoreProgram(
    "stream-exec-global-window-aggregate_1", "slices", EVENTS,
    {
        "hop": over(HOP, CALLS),
        "cumulate": over(CUMULATE, CALLS, ""),
        "tumble": over(TUMBLE, CALLS),
        "cascade": "SELECT window_start, window_end, SUM(c) AS c FROM TABLE(CUMULATE((SELECT window_time, "
        f"COUNT(*) AS c FROM TABLE({HOP}) GROUP BY window_start, window_end, window_time), DESCRIPTOR(window_time), "
        "INTERVAL '10' SECOND, INTERVAL '20' SECOND)) GROUP BY window_start, window_end",
    },
    BEFORE, LATE,
    _ALL_OPTIONS | {"table.local-time-zone": "Europe/Berlin", "table.optimizer.agg-phase-strategy": "TWO_PHASE"},
)  # fmt: skip
_OF_OLD = (
    "SELECT k, {0}_START({1}) AS s, {0}_END({1}) AS e, {0}_ROWTIME({1}) AS r, COUNT(*) AS c FROM t GROUP BY k, {0}({1})"
)
_UNEVEN = _OF_OLD.format("HOP", "ts, INTERVAL '7' SECOND, INTERVAL '3' SECOND")
UPDATED = RestoreProgram(
    "stream-exec-group-window-aggregate_1", "late", EVENTS,
    {
        "tumble": _OF_OLD.format("TUMBLE", "ts, INTERVAL '5' SECOND"),
        "uneven": _UNEVEN,
        "counted": "SELECT n, COUNT(*) AS c FROM (SELECT COUNT(*) AS n, COUNT(DISTINCT s) AS d FROM t "
        "GROUP BY k, TUMBLE(ts, INTERVAL '5' SECOND)) GROUP BY n",
        "taken_back": f"SELECT TUMBLE_END(ts, INTERVAL '5' SECOND) AS w, SUM(v) AS sv FROM ({_LAST}) "
        "GROUP BY TUMBLE(ts, INTERVAL '5' SECOND)",
    },
    BEFORE, LATE,
    _ALL_OPTIONS | {
        "table.local-time-zone": "Europe/Berlin", "table.exec.emit.allow-lateness": "10 s",
        "table.exec.emit.early-fire.enabled": "true",
    },
)  # fmt: skip
UNEVEN = RestoreProgram(
    "stream-exec-group-window-aggregate_1", "uneven", EVENTS,
    {"uneven": _UNEVEN, "overlapping": _UNEVEN.replace("'3' SECOND", "'12' SECOND")}, BEFORE, AFTER,
)  # fmt: skip
CLOCK = """
CREATE TABLE t (k STRING, v BIGINT, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/t', 'format' = 'json');
"""
_AGE = "INTERVAL '30000' DAY(5)"
_HALF = "INTERVAL '15000' DAY(5)"
BY_CLOCK = RestoreProgram(
    "stream-exec-window-aggregate_2", "clock", CLOCK,
    {
        "tumble": over(f"TUMBLE(TABLE t, DESCRIPTOR(pt), {_AGE})", "COUNT(*) AS c, SUM(v) AS sv"),
        "hop": over(f"HOP(TABLE t, DESCRIPTOR(pt), {_HALF}, {_AGE})", "COUNT(DISTINCT v) AS c"),
        "old": f"SELECT TUMBLE_END(pt, {_AGE}) AS e, MAX(v) AS m FROM t GROUP BY TUMBLE(pt, {_AGE})",
        "sessions": f"SELECT k, COUNT(*) AS c FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(pt), {_AGE})) "
        "GROUP BY k, window_start, window_end",
        "bare": f"SELECT k, v, EXTRACT(YEAR FROM window_end) AS y FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(pt), {_AGE}))",
        "cascade": "SELECT window_end, SUM(c) AS c FROM TABLE(TUMBLE((SELECT window_time, COUNT(*) AS c FROM "
        f"TABLE(TUMBLE(TABLE t, DESCRIPTOR(pt), {_HALF})) GROUP BY window_start, window_end, window_time), "
        f"DESCRIPTOR(window_time), {_AGE})) GROUP BY window_start, window_end",
    },
    BEFORE, AFTER,
)  # fmt: skip
"""Windows of 82 years: they hold the time of the fixture, of the test, and of some years to come."""

PAIRED = """
CREATE TABLE l (k STRING, v BIGINT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/l', 'format' = 'json');
CREATE TABLE r (k STRING, v BIGINT, s STRING, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '2' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/r', 'format' = 'json');
"""


def paired(kind: str, window: str, more: str = "") -> str:
    """Rows of two tables that are in the same window."""
    left, right = (window.replace("TABLE t", f"TABLE {each}") for each in ("l", "r"))
    return (
        f"SELECT l.k, l.v, r.k AS rk, r.v AS w, l.window_end, r.window_end AS re FROM TABLE({left}) AS l {kind} "
        f"TABLE({right}) AS r ON l.window_start = r.window_start AND l.window_end = r.window_end{more}"
    )


_SIDES = [f"TABLE({TUMBLE.replace('TABLE t', f'TABLE {each}')}) AS {each}" for each in ("l", "r")]
_EQUAL = "l.window_start = r.window_start AND l.window_end = r.window_end"
_SAME = " AND l.k = r.k"
_MET = paired("JOIN", TUMBLE, _SAME).replace("SELECT l.k, l.v", "SELECT l.k AS x, l.v AS y")
_BOTH_BEFORE = {
    "l/0.json": BEFORE["t/0.json"],
    "r/0.json": times('"a" 10 "x" 2', '"b" 20 "y" 8', '"a" 30 "x" 11', 'null 40 "z" 12', '"d" 50 "x" 13'),
}
_BOTH_AFTER = {
    "l/1.json": times('"a" 7 "x" 14', '"b" 8 "w" 12', '"d" 9 "v" 13', '"a" 10 "x" 21', '"b" 11 "y" 33'),
    "r/1.json": times('"b" 60 "x" 14', '"b" 3 "w" 12', '"d" 9 "v" 19', '"a" 10 "x" 25', '"c" 11 "y" 35'),
}
WINDOW_JOINS = RestoreProgram(
    "stream-exec-window-join_1", "shapes", PAIRED,
    {
        "inner_join": paired("JOIN", TUMBLE, _SAME),
        "left_join": paired("LEFT JOIN", HOP, _SAME),
        "right_join": paired("RIGHT JOIN", TUMBLE, f"{_SAME} AND l.v < r.v"),
        "full_join": paired("FULL JOIN", CUMULATE, " AND l.k IS NOT DISTINCT FROM r.k"),
        "no_key": paired("JOIN", TUMBLE),
        "semi_join": f"SELECT k, v FROM {_SIDES[0]} WHERE k IN (SELECT k FROM {_SIDES[1]} WHERE {_EQUAL})",
        "anti_join": f"SELECT k, v FROM {_SIDES[0]} WHERE NOT EXISTS "
        f"(SELECT * FROM {_SIDES[1]} WHERE l.k = r.k AND {_EQUAL})",
        "counts": f"SELECT x, COUNT(*) AS c FROM ({_MET}) GROUP BY x",
    },
    _BOTH_BEFORE, _BOTH_AFTER,
    {"table.local-time-zone": "Europe/Berlin", "table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
)  # fmt: skip


def apart(kind: str, condition: str) -> str:
    """Rows of two tables whose times are not too far apart."""
    return f"SELECT l.k, l.v, r.k AS rk, r.v AS w, l.ts, r.ts AS rts FROM l {kind} r ON {condition}"


_KEYS = "l.k = r.k AND "
_NEAR = "r.ts BETWEEN l.ts - INTERVAL '3' SECOND AND l.ts + INTERVAL '6' SECOND"
_BEFORE_IT = "r.ts > l.ts - INTERVAL '9' SECOND AND r.ts < l.ts - INTERVAL '1' SECOND"
_PADDED = apart("LEFT JOIN", f"{_KEYS}{_NEAR}")
INTERVAL_JOINS = RestoreProgram(
    "stream-exec-interval-join_1", "shapes", PAIRED,
    {
        "inner_join": apart("JOIN", f"{_KEYS}{_NEAR}"),
        "left_join": apart("LEFT JOIN", f"{_KEYS}{_BEFORE_IT}"),
        "right_join": apart("RIGHT JOIN", f"{_KEYS}{_NEAR} AND l.v < r.v"),
        "full_join": apart("FULL JOIN", f"l.k IS NOT DISTINCT FROM r.k AND {_NEAR}"),
        "no_key": apart("FULL JOIN", _BEFORE_IT),
        "equal_times": apart("FULL JOIN", "l.ts = r.ts"),
        "windows": f"SELECT window_start, COUNT(*) AS c, SUM(w) AS s FROM TABLE(TUMBLE(({_PADDED}), DESCRIPTOR(ts), "
        "INTERVAL '10' SECOND)) GROUP BY window_start, window_end",
        "twice": f"SELECT x.k, x.w, r.v AS y FROM ({_PADDED}) AS x LEFT JOIN r ON x.k = r.k "
        "AND r.ts BETWEEN x.rts AND x.rts + INTERVAL '9' SECOND",
    },
    _BOTH_BEFORE, _BOTH_AFTER, {"table.exec.uid.format": "<id>_<type>-<version>_<operator>"},
)  # fmt: skip
