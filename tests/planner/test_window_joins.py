"""Which joins are window joins is as Flink 2.3 has it (asked by EXPLAIN), and what stays an event time or a window."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from rekindle import TableEnvironment

_COLUMNS = "k STRING, v INT, ts {type}, pt AS PROCTIME(), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND"
_WITH = "WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = '{format}')"
DDL = "".join(
    f"CREATE TABLE {name} ({_COLUMNS.format(type=type)}) {_WITH.format(format=format)};\n"
    for name, type, format in (
        ("a", "TIMESTAMP(3)", "json"),
        ("b", "TIMESTAMP(3)", "json"),
        ("c", "TIMESTAMP(3)", "json"),
        ("exact", "TIMESTAMP(1)", "json"),
        ("zoned", "TIMESTAMP_LTZ(3)", "json"),
        ("changing", "TIMESTAMP(3)", "debezium-json"),
    )
)
BOUNDS = "l.window_start = r.window_start AND l.window_end = r.window_end"


def windowed(table: str, function: str = "TUMBLE", *lengths: str, column: str = "ts", partition: str = "") -> str:
    sizes = ", ".join(f"INTERVAL '{each}' SECOND" for each in lengths or ("10",))
    return f"(SELECT * FROM TABLE({function}(TABLE {table} {partition}, DESCRIPTOR({column}), {sizes})))"


A, B, C = (windowed(each) for each in "abc")
COUNTED = "(SELECT k, COUNT(*) AS c, window_start, window_end FROM {} GROUP BY k, window_start, window_end)"
LEGACY = (
    "(SELECT k, TUMBLE_START(ts, INTERVAL '10' SECOND) AS window_start, "
    "TUMBLE_END(ts, INTERVAL '10' SECOND) AS window_end FROM {} GROUP BY k, TUMBLE(ts, INTERVAL '10' SECOND))"
)
BEST = (
    "(SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, window_end, k ORDER BY v) AS rn FROM {}) "
    "WHERE rn <= 2)"
)
JOINED = f"FROM {A} AS l {{}} JOIN {B} AS r ON l.k = r.k AND {BOUNDS}"

WINDOW_JOINS = {
    "WHERE": f"SELECT 1 FROM {A} AS l, {B} AS r WHERE l.k = r.k AND {BOUNDS}",
    "no key": f"SELECT 1 FROM {A} AS l JOIN {B} AS r ON {BOUNDS}",
    "right": f"SELECT 1 {JOINED.format('RIGHT')}",
    "full": f"SELECT 1 {JOINED.format('FULL')}",
    "hop": f"SELECT 1 FROM {windowed('a', 'HOP', '5', '10')} AS l "
    f"JOIN {windowed('b', 'HOP', '5', '10')} AS r ON {BOUNDS}",
    "cumulate": f"SELECT 1 FROM {windowed('a', 'CUMULATE', '5', '10')} AS l "
    f"JOIN {windowed('b', 'CUMULATE', '5', '10')} AS r ON {BOUNDS}",
    "session": f"SELECT 1 FROM {windowed('a', 'SESSION', partition='PARTITION BY k')} AS l "
    f"JOIN {windowed('b', 'SESSION', partition='PARTITION BY k')} AS r ON l.k = r.k AND {BOUNDS}",
    "semi": f"SELECT 1 FROM {A} AS l WHERE k IN (SELECT k FROM {B} AS r WHERE {BOUNDS})",
    "anti": f"SELECT 1 FROM {A} AS l WHERE k NOT IN (SELECT k FROM {B} AS r WHERE {BOUNDS})",
    "null-safe key": f"SELECT 1 FROM {A} AS l JOIN {B} AS r ON l.k IS NOT DISTINCT FROM r.k AND {BOUNDS}",
    "null-safe bounds": f"SELECT 1 FROM {A} AS l JOIN {B} AS r ON {BOUNDS.replace('=', 'IS NOT DISTINCT FROM')}",
    "more conditions": f"SELECT l.v, r.v FROM {A} AS l JOIN {B} AS r ON l.ts < r.ts AND l.v + 1 > r.v * 2 AND {BOUNDS}",
    "an interval besides": f"SELECT 1 {JOINED.format('')} AND l.ts BETWEEN r.ts - INTERVAL '1' SECOND AND r.ts",
    "window_time besides": f"SELECT 1 {JOINED.format('')} AND l.window_time = r.window_time",
    "OR": f"SELECT 1 FROM {A} AS l JOIN {B} AS r ON (l.k = r.k OR l.v = r.v) AND {BOUNDS}",
    "a computed key": f"SELECT 1 FROM {A} AS l JOIN {B} AS r ON l.v = CHAR_LENGTH(r.k) AND {BOUNDS}",
    "one side's condition": f"SELECT 1 {JOINED.format('LEFT')} AND l.v > 3",
    "digits": f"SELECT 1 FROM {A} AS l JOIN {windowed('exact')} AS r ON {BOUNDS}",
    "aggregates": f"SELECT 1 FROM {COUNTED.format(A)} AS l JOIN {COUNTED.format(B)} AS r ON l.k = r.k AND {BOUNDS}",
    "an aggregate": f"SELECT 1 FROM {COUNTED.format(A)} AS l JOIN {B} AS r ON l.k = r.k AND {BOUNDS}",
    "ranks": f"SELECT 1 FROM {BEST.format(A)} AS l JOIN {B} AS r ON l.k = r.k AND {BOUNDS}",
    "union": f"SELECT 1 FROM (SELECT * FROM {A} UNION ALL SELECT * FROM {B}) AS l JOIN {B} AS r ON {BOUNDS}",
    "legacy windows, which Flink keeps for ever": f"SELECT 1 FROM {LEGACY.format('a')} AS l "
    f"JOIN {LEGACY.format('b')} AS r ON l.k = r.k AND {BOUNDS}",
    "INTERSECT": f"SELECT k, window_start, window_end FROM {A} INTERSECT SELECT k, window_start, window_end FROM {B}",
    "EXCEPT": f"SELECT k, window_start, window_end FROM {A} EXCEPT SELECT k, window_start, window_end FROM {B}",
}
REGULAR = {
    "start only": f"SELECT 1 FROM {A} AS l JOIN {B} AS r ON l.window_start = r.window_start",
    "end only": f"SELECT 1 FROM {A} AS l JOIN {B} AS r ON l.window_end = r.window_end",
    "crossed": f"SELECT 1 FROM {A} AS l JOIN {B} AS r "
    "ON l.window_start = r.window_end AND l.window_end = r.window_start",
    "lengths": f"SELECT 1 FROM {windowed('a', 'TUMBLE', '5')} AS l JOIN {B} AS r ON {BOUNDS}",
    "offsets": f"SELECT 1 FROM {windowed('a', 'TUMBLE', '10', '1')} AS l JOIN {B} AS r ON {BOUNDS}",
    "instants": f"SELECT 1 FROM {A} AS l JOIN {windowed('zoned')} AS r ON {BOUNDS}",
    "one by processing time": f"SELECT 1 FROM {windowed('a', column='pt')} AS l JOIN {B} AS r ON {BOUNDS}",
}
REFUSED = {
    "windows by processing time": f"SELECT 1 FROM {windowed('a', column='pt')} AS l "
    f"JOIN {windowed('b', column='pt')} AS r ON {BOUNDS}",
    "inputs that only add rows": f"SELECT 1 FROM {windowed('changing')} AS l JOIN {B} AS r ON {BOUNDS}",
}
_BEHIND = f"SELECT l.*, r.window_time AS rt, r.v AS w {JOINED}"
BEHIND = {
    "windows": (
        "window-aggregate",
        f"SELECT l.window_start, l.window_end, COUNT(*) {JOINED.format('')} GROUP BY l.window_start, l.window_end",
    ),
    "windows of the other": (
        "window-aggregate",
        f"SELECT r.window_start, r.window_end, COUNT(*) {JOINED.format('')} GROUP BY r.window_start, r.window_end",
    ),
    "windows of the whole side": (
        "window-aggregate",
        f"SELECT l.window_start, l.window_end, COUNT(*) {JOINED.format('LEFT')} GROUP BY l.window_start, l.window_end",
    ),
    "windows of a padded side": (
        "local-group-aggregate",
        f"SELECT r.window_start, r.window_end, COUNT(*) {JOINED.format('LEFT')} GROUP BY r.window_start, r.window_end",
    ),
    "windows made of columns": (
        "local-group-aggregate",
        "SELECT s, e, COUNT(*) FROM (SELECT COALESCE(l.window_start, r.window_start) AS s, "
        f"COALESCE(l.window_end, r.window_end) AS e {JOINED.format('FULL')}) GROUP BY s, e",
    ),
    "wider windows": (
        "window-aggregate",
        f"SELECT window_start, COUNT(*) FROM TABLE(TUMBLE((SELECT r.window_time AS rt {JOINED.format('')}), "
        "DESCRIPTOR(rt), INTERVAL '20' SECOND)) GROUP BY window_start, window_end",
    ),
    "ranks": (
        "window-rank",
        "SELECT * FROM (SELECT l.k, ROW_NUMBER() OVER (PARTITION BY l.window_start, l.window_end ORDER BY r.v) AS rn "
        f"{JOINED.format('')}) WHERE rn <= 2",
    ),
    "OVER": (
        "over-aggregate",
        f"SELECT SUM(v) OVER (PARTITION BY k ORDER BY window_time) FROM ({_BEHIND.format('')})",
    ),
    "ORDER BY": ("temporal-sort", f"SELECT k FROM ({_BEHIND.format('LEFT')}) ORDER BY window_time"),
    "ORDER BY of a semi join": (
        "temporal-sort",
        f"SELECT k FROM (SELECT * FROM {A} AS l WHERE EXISTS (SELECT * FROM {B} AS r WHERE l.k = r.k AND {BOUNDS})) "
        "ORDER BY ts",
    ),
}


def nodes(query: str, mode: str = "streaming") -> list[str]:
    made = TableEnvironment.create({"execution.runtime-mode": mode})
    made.execute_script(DDL)
    return [each.key.name.removeprefix("stream-exec-") for each in made.compile_plan_sql(query).graph.nodes]


@pytest.mark.parametrize("shape", WINDOW_JOINS)
def test_joins_of_equal_windows_wait_for_them(shape: str) -> None:
    found = nodes(WINDOW_JOINS[shape])
    assert "window-join" in found
    assert "join" not in found
    nodes(WINDOW_JOINS[shape], "batch")


@pytest.mark.parametrize("shape", REGULAR)
def test_other_joins_are_regular(shape: str) -> None:
    found = nodes(REGULAR[shape])
    assert "join" in found
    assert "window-join" not in found


@pytest.mark.parametrize("reason", REFUSED)
def test_refusals_have_a_place(reason: str) -> None:
    with pytest.raises(SqlError, match=reason) as caught:
        nodes(REFUSED[reason])
    assert caught.value.position is not None


@pytest.mark.parametrize("what", BEHIND)
def test_what_reads_a_window_join(what: str) -> None:
    node, query = BEHIND[what]
    found = nodes(query)
    assert "window-join" in found
    assert node in found


def test_several_window_joins_in_turn() -> None:
    on = BOUNDS.replace("r.", "x.")
    assert nodes(f"SELECT 1 {JOINED.format('LEFT')} JOIN {C} AS x ON l.k = x.k AND {on}").count("window-join") == 2


def test_the_windows_of_a_padded_side_are_no_windows_any_more() -> None:
    on = BOUNDS.replace("l.", "r.", 1).replace("l.window_end", "r.window_end").replace("= r.", "= x.")
    found = nodes(f"SELECT 1 {JOINED.format('LEFT')} JOIN {C} AS x ON r.k = x.k AND {on}")
    assert {"window-join", "join"} <= set(found)
