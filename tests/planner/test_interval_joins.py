"""Which joins are interval joins, within which bounds, and what reads them: as Flink 2.3 has it (asked by EXPLAIN)."""

from __future__ import annotations

import pytest

from execnodes.core.errors import PlanError, SqlError
from execnodes.core.graph import ExecGraph
from execnodes.stream.interval_join import IntervalJoin
from plans.format.load import load
from rekindle import TableEnvironment

_WITH = "WITH ('connector' = 'filesystem', 'path' = 'x', 'format' = 'json')"
DDL = f"""
CREATE TABLE t1 (a INT, b STRING, ts TIMESTAMP(3), pt AS PROCTIME(), WATERMARK FOR ts AS ts) {_WITH};
CREATE TABLE t2 LIKE t1;
CREATE TABLE t3 LIKE t1;
CREATE VIEW v2 AS SELECT a, pt AS p, ts AS t FROM t2;
CREATE TABLE z1 (a INT, ts TIMESTAMP_LTZ(3), WATERMARK FOR ts AS ts) {_WITH};
CREATE TABLE z2 LIKE z1;
CREATE TABLE exact (a INT, ts TIMESTAMP(1), WATERMARK FOR ts AS ts) {_WITH};
CREATE TABLE plain (a INT, ts TIMESTAMP(3)) {_WITH};
CREATE TABLE changing (a INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) {_WITH.replace("json", "debezium-json")};
"""
ON = "ON t1.a = t2.a AND"
BETWEEN = "t1.{t} BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t}"
SHAPES = {
    "inner": (f"t1 JOIN t2 {ON} {BETWEEN}", -5000, 0),
    "sides swapped": (f"t1 JOIN t2 {ON} t2.{{t}} BETWEEN t1.{{t}} - INTERVAL '5' SECOND AND t1.{{t}}", 0, 5000),
    "left": (f"t1 LEFT JOIN t2 {ON} {BETWEEN}", -5000, 0),
    "right": (f"t1 RIGHT JOIN t2 {ON} {BETWEEN}", -5000, 0),
    "full": (f"t1 FULL JOIN t2 {ON} {BETWEEN}", -5000, 0),
    "WHERE": ("t1, t2 WHERE t1.a = t2.a AND t1.{t} > t2.{t} - INTERVAL '5' SECOND AND t1.{t} < t2.{t}", -4999, -1),
    "no key": ("t1, t2 WHERE t1.{t} > t2.{t} - INTERVAL '5' SECOND AND t2.{t} > t1.{t}", -4999, -1),
    "equal times": (f"t1 JOIN t2 {ON} t1.{{t}} = t2.{{t}}", 0, 0),
    "equal times alone": ("t1 LEFT JOIN t2 ON t1.{t} = t2.{t}", 0, 0),
    "arithmetic": (
        "t1 JOIN t2 ON t1.{t} + INTERVAL '5' SECOND BETWEEN t2.{t} AND t2.{t} + INTERVAL '5' SECOND", -5000, 0,
    ),
    "on both sides": (
        f"t1 JOIN t2 {ON} t1.{{t}} + INTERVAL '1' SECOND >= t2.{{t}} - INTERVAL '5' SECOND "
        "AND t1.{t} - INTERVAL '3' SECOND < t2.{t} + INTERVAL '1' SECOND",
        -6000,
        3999,
    ),
    "several intervals": (
        f"t1 JOIN t2 {ON} t1.{{t}} - INTERVAL '5' SECOND - INTERVAL '1' MINUTE < t2.{{t}} AND t1.{{t}} > t2.{{t}}",
        1,
        64_999,
    ),
    "a number of intervals": (
        f"t1 JOIN t2 {ON} t1.{{t}} BETWEEN t2.{{t}} - INTERVAL '1' SECOND * 5 AND t2.{{t}}", -5000, 0,
    ),
    "TIMESTAMPADD": (f"t1 JOIN t2 {ON} t1.{{t}} BETWEEN TIMESTAMPADD(SECOND, -5, t2.{{t}}) AND t2.{{t}}", -5000, 0),
    "nothing in between": (
        f"t1 FULL JOIN t2 {ON} t1.{{t}} BETWEEN t2.{{t}} + INTERVAL '5' SECOND AND t2.{{t}}", 5000, 0,
    ),
    "a bound twice": (
        f"t1 JOIN t2 {ON} t1.{{t}} > t2.{{t}} AND t1.{{t}} > t2.{{t}} AND t1.{{t}} < t2.{{t}} + INTERVAL '1' SECOND",
        1,
        999,
    ),
    "equal and shifted": (f"t1 JOIN t2 {ON} t1.{{t}} = t2.{{t}} AND t1.{{t}} = t2.{{t}} + INTERVAL '1' SECOND", 0, 0),
    "view": (f"t1 JOIN v2 ON t1.a = v2.a AND {BETWEEN.replace('t2.{t}', 'v2.{v}')}", -5000, 0),
    "subquery": (
        "t1 JOIN (SELECT a, {t} AS x FROM t2 WHERE a > 1) AS y ON y.x BETWEEN t1.{t} AND t1.{t} + INTERVAL '1' DAY",
        -86_400_000,
        0,
    ),
    "union": (
        "(SELECT a, {t} FROM t1 UNION ALL SELECT a + 1, {t} FROM t1) AS x "
        f"JOIN t2 ON x.a = t2.a AND {BETWEEN.replace('t1.', 'x.')}",
        -5000,
        0,
    ),
    "cast where it is compared": (
        "t1 JOIN t2 ON CAST(t1.{t} AS TIMESTAMP(6)) > CAST(t2.{t} AS TIMESTAMP(6)) "
        "AND CAST(t1.{t} AS TIMESTAMP(6)) < CAST(t2.{t} AS TIMESTAMP(6)) + INTERVAL '1' SECOND",
        1,
        999,
    ),
    "null-safe key": (f"t1 JOIN t2 ON t1.a IS NOT DISTINCT FROM t2.a AND {BETWEEN}", -5000, 0),
    "OR of keys": (f"t1 JOIN t2 ON (t1.a = t2.a OR t1.b = t2.b) AND {BETWEEN}", -5000, 0),
    "more conditions": (f"t1 LEFT JOIN t2 ON t1.a < t2.a AND t1.b <> t2.b AND t1.b = 'x' AND {BETWEEN}", -5000, 0),
    "a computed key": (f"t1 JOIN t2 ON t1.a = CHAR_LENGTH(t2.b) AND {BETWEEN}", -5000, 0),
    "WHERE of an outer join": (f"t1 LEFT JOIN t2 ON t1.a = t2.a WHERE {BETWEEN}", -5000, 0),
    "a part in WHERE": (
        f"t1 LEFT JOIN t2 {ON} t1.{{t}} >= t2.{{t}} - INTERVAL '5' SECOND WHERE t1.{{t}} <= t2.{{t}}", -5000, 0,
    ),
    "USING": ("(SELECT a, {t} AS x FROM t1) JOIN (SELECT a, {t} AS x FROM t2) USING (a, x)", 0, 0),
    "itself": (f"t1 JOIN t1 AS t2 {ON} {BETWEEN}", -5000, 0),
}  # fmt: skip
BY_EVENT_TIME = {
    "instants": ("z1 JOIN z2 ON z1.ts BETWEEN z2.ts - INTERVAL '5' SECOND AND z2.ts", -5000, 0),
    "digits": ("exact JOIN t2 ON exact.ts BETWEEN t2.ts - INTERVAL '5' SECOND AND t2.ts", -5000, 0),
    "times of windows": (
        "(SELECT a, window_time AS w FROM TABLE(TUMBLE(TABLE t1, DESCRIPTOR(ts), INTERVAL '10' SECOND)) "
        "GROUP BY a, window_start, window_end, window_time) AS t1 "
        f"JOIN t2 ON t1.a = t2.a AND {BETWEEN.format(t='ts').replace('t1.ts', 't1.w')}",
        -5000,
        0,
    ),
    "times of windows alone": (
        "TABLE(TUMBLE(TABLE t1, DESCRIPTOR(ts), INTERVAL '10' SECOND)) AS t1 "
        "JOIN TABLE(TUMBLE(TABLE t2, DESCRIPTOR(ts), INTERVAL '10' SECOND)) AS t2 ON t1.window_time = t2.window_time",
        0,
        0,
    ),
}
REGULAR = {
    "one side": f"t1 JOIN t2 {ON} t1.{{t}} >= t2.{{t}} - INTERVAL '5' SECOND",
    "two lower bounds": f"t1 JOIN t2 {ON} t1.{{t}} > t2.{{t}} - INTERVAL '5' SECOND "
    "AND t2.{t} < t1.{t} + INTERVAL '3' SECOND",
    "three bounds": f"t1 JOIN t2 {ON} {BETWEEN} AND t1.{{t}} > t2.{{t}} - INTERVAL '1' SECOND",
    "equal, and a bound": f"t1 JOIN t2 {ON} t1.{{t}} = t2.{{t}} AND t1.{{t}} < t2.{{t}} + INTERVAL '1' SECOND",
    "OR": f"t1 JOIN t2 {ON} (t1.{{t}} < t2.{{t}} OR t1.{{t}} > t2.{{t}} + INTERVAL '1' SECOND)",
    "NOT BETWEEN": f"t1 JOIN t2 {ON} t1.{{t}} NOT BETWEEN t2.{{t}} - INTERVAL '5' SECOND AND t2.{{t}}",
    "a NOT, which Flink turns round": f"t1 JOIN t2 {ON} NOT (t1.{{t}} > t2.{{t}} "
    "OR t1.{t} < t2.{t} - INTERVAL '5' SECOND)",
    "SYMMETRIC": f"t1 JOIN t2 {ON} t1.{{t}} BETWEEN SYMMETRIC t2.{{t}} + INTERVAL '5' SECOND AND t2.{{t}}",
    "unequal": f"t1 JOIN t2 {ON} t1.{{t}} <> t2.{{t}}",
    "IS NOT DISTINCT FROM": f"t1 JOIN t2 {ON} t1.{{t}} IS NOT DISTINCT FROM t2.{{t}}",
    "equal to a shifted time": f"t1 JOIN t2 {ON} t1.{{t}} = t2.{{t}} + INTERVAL '3' SECOND",
    "equal hours": f"t1 JOIN t2 {ON} FLOOR(t1.{{t}} TO HOUR) = FLOOR(t2.{{t}} TO HOUR)",
    "a difference": f"t1 JOIN t2 {ON} TIMESTAMPDIFF(SECOND, t1.{{t}}, t2.{{t}}) BETWEEN 0 AND 5",
    "an interval of a column": f"t1 JOIN t2 {ON} t1.{{t}} BETWEEN t2.{{t}} - INTERVAL '1' SECOND * t2.a AND t2.{{t}}",
    "aggregated": "(SELECT a, MAX({t}) AS m FROM t1 GROUP BY a) AS x "
    "JOIN t2 ON x.a = t2.a AND x.m BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t}",
    "EXISTS": f"t1 WHERE EXISTS (SELECT 1 FROM t2 WHERE t1.a = t2.a AND {BETWEEN})",
    "IN": f"t1 WHERE a IN (SELECT a FROM t2 WHERE {BETWEEN})",
    "a constant": f"t1 JOIN t2 {ON} t1.{{t}} > TIMESTAMP '2020-01-01 00:00:00' AND t2.{{t}} > t1.{{t}}",
    "PROCTIME()": f"t1 JOIN t2 {ON} PROCTIME() BETWEEN t2.pt - INTERVAL '5' SECOND AND t2.pt",
    "a time of processing and one of rows": f"t1 JOIN t2 {ON} t1.pt BETWEEN t2.ts - INTERVAL '5' SECOND AND t2.ts",
    "intervals of both kinds": f"t1 JOIN t2 {ON} {BETWEEN.format(t='ts')} AND {BETWEEN.format(t='pt')}",
    "no WATERMARK": "plain AS t1 JOIN t2 ON t1.ts BETWEEN t2.ts - INTERVAL '5' SECOND AND t2.ts",
    "behind a regular join": "(SELECT t1.* FROM t1 JOIN t3 ON t1.a = t3.a) AS t1 "
    f"JOIN t2 {ON} {BETWEEN.format(t='ts')}",
    "behind GROUP BY": f"(SELECT a, ts FROM t1 GROUP BY a, ts) AS t1 JOIN t2 {ON} {BETWEEN.format(t='ts')}",
    "as the hint says": "(SELECT *, CAST({t} AS TIMESTAMP(3)) AS t FROM t1) AS x "
    "JOIN t2 ON x.a = t2.a AND x.t BETWEEN t2.{t} - INTERVAL '5' SECOND AND t2.{t}",
}
PAIRS = f"(SELECT t1.a, t1.ts AS x, t2.ts AS y FROM t1 {{}} JOIN t2 {ON} {BETWEEN.format(t='ts')})"
REFUSED = {
    "one bound in processing time": f"t1 JOIN t2 {ON} t1.pt >= t2.pt - INTERVAL '5' SECOND AND t1.ts <= t2.ts",
    "two time attributes of one side": f"{PAIRS.format('')} AS p JOIN t3 "
    "ON p.x >= t3.ts - INTERVAL '5' SECOND AND p.y <= t3.ts",
    "times of one type": "z1 JOIN t2 ON z1.ts BETWEEN t2.ts - INTERVAL '5' SECOND AND t2.ts",
    r"by \(ts >= \(ts0 - 1\)\)": f"t1 JOIN t2 {ON} t1.ts BETWEEN t2.ts - INTERVAL '1' MONTH AND t2.ts",
    r"by \(FLOOR": f"t1 JOIN t2 {ON} FLOOR(t1.ts TO HOUR) >= t2.ts AND t1.ts <= t2.ts + INTERVAL '1' HOUR",
    r"by \(CAST": f"t1 JOIN t2 {ON} CAST(t1.ts AS TIMESTAMP(0)) >= t2.ts AND t1.ts <= t2.ts + INTERVAL '1' HOUR",
    "inputs that only add rows": "changing AS t1 JOIN t2 ON t1.ts BETWEEN t2.ts - INTERVAL '5' SECOND AND t2.ts",
}
_TUMBLE = "TABLE(TUMBLE({}, DESCRIPTOR({}), INTERVAL '10' SECOND))"
BEHIND = {
    f"windows by {time} of {kind or 'INNER'}": (
        "window-aggregate",
        f"SELECT COUNT(*) FROM {_TUMBLE.format(PAIRS.format(kind), time)} GROUP BY window_start, window_end",
    )
    for kind in ("", "LEFT", "RIGHT", "FULL")
    for time in ("x", "y")
} | {
    "windows of before the join": (
        "local-group-aggregate",
        f"SELECT window_start, window_end, COUNT(*) FROM (SELECT t1.* FROM {_TUMBLE.format('TABLE t1', 'ts')} AS t1 "
        f"JOIN t2 {ON} {BETWEEN.format(t='ts')}) GROUP BY window_start, window_end",
    ),
    "OVER": ("over-aggregate", f"SELECT COUNT(*) OVER (PARTITION BY a ORDER BY y) FROM {PAIRS.format('LEFT')}"),
    "ORDER BY": ("temporal-sort", f"SELECT a FROM {PAIRS.format('LEFT')} ORDER BY x"),
    "legacy windows": (
        "window-aggregate", f"SELECT COUNT(*) FROM {PAIRS.format('')} GROUP BY TUMBLE(y, INTERVAL '10' SECOND)",
    ),
    "the first row": (
        "deduplicate",
        "SELECT a, x FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY a ORDER BY x) AS rn "
        f"FROM {PAIRS.format('')}) WHERE rn = 1",
    ),
    "a regular join": ("join", f"SELECT p.a FROM {PAIRS.format('LEFT')} AS p JOIN t3 ON p.a = t3.a"),
    "a time of either side": (
        "join",
        f"SELECT p.a FROM (SELECT a, COALESCE(x, y) AS t FROM {PAIRS.format('FULL')}) AS p "
        "JOIN t3 ON p.t BETWEEN t3.ts - INTERVAL '5' SECOND AND t3.ts",
    ),
    "a union": (
        "temporal-sort",
        f"SELECT * FROM (SELECT x, y FROM {PAIRS.format('LEFT')} UNION ALL SELECT ts, ts FROM t3) ORDER BY y",
    ),
}  # fmt: skip
TIMES = ({"t": "ts", "v": "t"}, {"t": "pt", "v": "p"})


def compiled(query: str, mode: str = "streaming") -> ExecGraph:
    made = TableEnvironment.create({"execution.runtime-mode": mode})
    made.execute_script(DDL)
    return made.compile_plan_sql(query).graph


def names(query: str) -> list[str]:
    return [each.key.name.removeprefix("stream-exec-") for each in compiled(query).nodes]


@pytest.mark.parametrize("shape", [*SHAPES, *BY_EVENT_TIME])
def test_joins_within_bounds_are_interval_joins(shape: str) -> None:
    join, lower, upper = (SHAPES | BY_EVENT_TIME)[shape]
    query = f"SELECT 1 FROM {join.format(**TIMES[0])}"
    (node,) = [each for each in compiled(query).nodes if isinstance(each, IntervalJoin)]
    bounds = node.interval_join_spec.window_bounds
    assert (bounds.left_lower_bound, bounds.left_upper_bound) == (lower, upper)
    compiled(query, "batch")


@pytest.mark.parametrize("shape", SHAPES)
def test_those_by_processing_time_are_refused_with_their_place(shape: str) -> None:
    query = f"SELECT 1 FROM {SHAPES[shape][0].format(**TIMES[1])}"
    with pytest.raises(SqlError, match="an interval join by processing time") as caught:
        compiled(query)
    assert caught.value.position is not None
    assert "TIMESTAMP(3)" in (caught.value.hint or "")
    compiled(query, "batch")


@pytest.mark.parametrize("time", TIMES, ids=lambda each: each["t"])
@pytest.mark.parametrize("shape", REGULAR)
def test_other_joins_are_regular(shape: str, time: dict[str, str]) -> None:
    found = names(f"SELECT 1 FROM {REGULAR[shape].format(**time)}")
    assert "join" in found
    assert "interval-join" not in found


@pytest.mark.parametrize("reason", REFUSED)
def test_refusals_have_a_place(reason: str) -> None:
    with pytest.raises(SqlError, match=reason) as caught:
        compiled(f"SELECT 1 FROM {REFUSED[reason]}")
    assert caught.value.position is not None
    assert caught.value.hint


@pytest.mark.parametrize("what", BEHIND)
def test_what_reads_an_interval_join(what: str) -> None:
    node, query = BEHIND[what]
    found = names(query)
    assert "interval-join" in found
    assert node in found


def test_several_interval_joins_in_turn() -> None:
    third = "t3.ts BETWEEN t2.ts AND t2.ts + INTERVAL '1' HOUR"
    inner = BETWEEN.format(t="ts")
    assert (
        names(f"SELECT 1 FROM t1 JOIN t2 {ON} {inner} JOIN t3 ON t1.a = t3.a AND {third}").count("interval-join") == 2
    )
    where = f"t1.a = t2.a AND t2.a = t3.a AND {inner} AND {third}"
    assert names(f"SELECT 1 FROM t1, t2, t3 WHERE {where}").count("interval-join") == 2
    padded = PAIRS.format("LEFT")
    on = "p.a = t3.a AND p.y BETWEEN t3.ts - INTERVAL '5' SECOND AND t3.ts"
    assert names(f"SELECT 1 FROM {padded} AS p JOIN t3 ON {on}").count("interval-join") == 2


def test_a_hint_of_its_state_is_of_no_use_as_in_flink() -> None:
    hint = "/*+ STATE_TTL('t1' = '1d') */"
    assert "interval-join" in names(f"SELECT {hint} t1.a FROM t1 JOIN t2 {ON} {BETWEEN.format(t='ts')}")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"isEventTime": true', '"isEventTime": false', "interval joins by processing time are not supported"),
        ('"joinType": "INNER"', '"joinType": "SEMI"', "joined SEMI, give 2"),
        ('"leftLowerBound": -5000', '"leftLowerBound": -5000000000000000', "bounds of its times are beyond"),
        ('"leftTimeIndex": 1', '"leftTimeIndex": 0', "are INT and .*, not timestamps of one type"),
        ('"rightTimeIndex": 1', '"rightTimeIndex": 9', "9"),
    ],
)
def test_a_plan_that_was_edited_is_checked(old: str, new: str, message: str) -> None:
    made = TableEnvironment.create()
    made.execute_script(DDL)
    text = made.compile_plan_sql(f"SELECT t1.a FROM t1 JOIN t2 {ON} {BETWEEN.format(t='ts')}").as_json_string()
    assert old in text
    with pytest.raises(PlanError, match=message):
        load(text.replace(old, new))
