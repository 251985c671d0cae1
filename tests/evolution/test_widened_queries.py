"""What queries compute of a column whose type becomes wider: verdicts, and rows after a cut."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from plans.compatibility.plan_meanings import POSITION
from rekindle.api.table_environment import TableEnvironment
from tests.evolution.compiling import ALLOW
from tests.evolution.test_widenings import run, run_tables
from tests.evolution.widenings import Pair, Role, compared, script
from tests.user_functions import examples

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True)
class Change:
    """Types, and queries by what becomes of their state."""

    pair: Pair
    full: Sequence[str]
    partial: Sequence[tuple[str, str]]
    """With what is said of it."""
    other: Sequence[str]
    """Which mean something else."""


def changes() -> list[Change]:
    """All there are, in the order of the file."""
    text = Path(__file__).with_name("widened_queries.toml").read_text(encoding="utf-8")
    return [
        Change(Pair(old, new, tuple(json.loads(each["values"]))), each["full"], each["partial"], each["other"])
        for each in tomllib.loads(text)["change"]
        for old, new in [each["types"]]
    ]


CHANGES = changes()


@pytest.mark.parametrize(("pair", "query"), [(each.pair, query) for each in CHANGES for query in each.full], ids=str)
def test_results_that_are_the_same(pair: Pair, query: str) -> None:
    found = compared(pair, Role("", query))
    assert found.verdict == "full", found.judgements
    assert all(each.goes_on for each in found.judgements)


@pytest.mark.parametrize(
    ("pair", "query", "reason"), [(each.pair, *case) for each in CHANGES for case in each.partial], ids=str
)
def test_results_that_narrow_types_have_cut(pair: Pair, query: str, reason: str) -> None:
    found = compared(pair, Role("", query))
    assert found.verdict == "partial"
    assert all(each.goes_on for each in found.judgements)
    assert any(reason in each.reason for each in found.losses), found.losses


@pytest.mark.parametrize(("pair", "query"), [(each.pair, query) for each in CHANGES for query in each.other], ids=str)
def test_results_that_hang_on_the_type(pair: Pair, query: str) -> None:
    found = compared(pair, Role("", query))
    assert not [each for each in found.judgements if each.goes_on and each.state != POSITION]
    assert found.verdict == "partial"


@pytest.mark.spark
@pytest.mark.long
def test_rows_are_those_of_a_fresh_run(spark: SparkSession, tmp_path: Path) -> None:
    pairs = [each.pair for each in CHANGES]
    queries = [query.format(t=f"t{at}", r=f"r{at}") for at, each in enumerate(CHANGES) for query in each.full]
    run(spark, tmp_path, pairs, queries)


TIMES = {
    "windows": "SELECT window_start, COUNT(*) AS c FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE)) "
    "GROUP BY window_start, window_end",
    "sessions": "SELECT k, window_end, SUM(w) AS s FROM TABLE(SESSION(TABLE t PARTITION BY k, DESCRIPTOR(ts), "
    "INTERVAL '5' MINUTE)) GROUP BY k, window_start, window_end",
    "groups": "SELECT k, SUM(w) AS s FROM t GROUP BY k, TUMBLE(ts, INTERVAL '5' MINUTE)",
    "first rows": "SELECT k, w FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts) AS n FROM t) WHERE n = 1",
    "last rows": "SELECT k, w, ts FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY k ORDER BY ts DESC) AS n FROM t) "
    "WHERE n = 1",
    "over": "SELECT id, SUM(w) OVER (PARTITION BY k ORDER BY ts) AS s FROM t",
    "over a range": "SELECT id, SUM(w) OVER (PARTITION BY k ORDER BY ts RANGE BETWEEN INTERVAL '9' MINUTE PRECEDING "
    "AND CURRENT ROW) AS s FROM t",
    "top of windows": "SELECT k, w, window_end FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY window_start, "
    "window_end, k ORDER BY w) AS n FROM TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '5' MINUTE))) WHERE n <= 2",
    "sorted": "SELECT id, ts FROM t ORDER BY ts",
}
"""What goes by the time of rows."""


def timed(type: str, folder: Path = Path("/nowhere")) -> str:
    """A table whose time has a type."""
    return (
        f"CREATE TABLE t (id BIGINT, k STRING, w BIGINT, ts {type}, WATERMARK FOR ts AS ts - INTERVAL '1' SECOND) "
        f"WITH ('connector' = 'filesystem', 'path' = '{folder}/t', 'format' = 'json');"
    )


@pytest.mark.parametrize(
    ("old", "new", "goes_on"),
    [
        ("TIMESTAMP(0)", "TIMESTAMP(3)", True),
        ("TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(3)", True),
        ("TIMESTAMP(3) NOT NULL", "TIMESTAMP(3)", True),
        ("TIMESTAMP(3)", "TIMESTAMP(0)", False),
        ("TIMESTAMP(3)", "TIMESTAMP_LTZ(3)", False),
    ],
)
@pytest.mark.parametrize("query", TIMES.values(), ids=TIMES)
def test_the_time_of_rows(old: str, new: str, goes_on: bool, query: str) -> None:
    before = TableEnvironment.create(ALLOW).compile_script(timed(old) + query)
    found = TableEnvironment.create(ALLOW).compile_script(timed(new) + query, from_plan=before).comparison
    assert found is not None
    assert found.verdict == ("full" if goes_on else "partial")
    assert goes_on == all(each.goes_on for each in found.judgements)


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize(("old", "new"), [("TIMESTAMP(0)", "TIMESTAMP(3)"), ("TIMESTAMP_LTZ(0)", "TIMESTAMP_LTZ(3)")])
def test_rows_by_time_are_those_of_a_fresh_run(spark: SparkSession, tmp_path: Path, old: str, new: str) -> None:
    zone = "Z" if "LTZ" in new else ""
    every = [
        {"id": at, "k": "abc"[at % 3], "w": at * 5 % 7, "ts": f"2024-01-01 00:{at * 2:02}:00{zone}"} for at in range(14)
    ]
    tables = {False: old, True: new}
    queries = list(TIMES.values())
    run_tables(spark, tmp_path, lambda folder, after: timed(tables[after], folder), queries, {"t": every})


KEYED = (
    "CREATE TABLE o (x {sink}, k STRING, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) "
    "WITH ('connector' = 'duckdb', 'path' = '/nowhere/o', 'table' = 'o');"
    "CREATE TABLE t (k STRING, x {type}) WITH ('connector' = 'filesystem', 'path' = '/nowhere/t', 'format' = 'json');"
    "INSERT INTO o SELECT x, k, COUNT(*) FROM t GROUP BY x, k ON CONFLICT DO DEDUPLICATE"
)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (("INT", "INT"), ("BIGINT", "BIGINT")),
        (("INT", "INT"), ("INT", "BIGINT")),
        (("INT", "BIGINT"), ("BIGINT", "BIGINT")),
        (("VARCHAR(5)", "VARCHAR(5)"), ("VARCHAR(9)", "VARCHAR(9)")),
        (("VARCHAR(5)", "VARCHAR(5)"), ("VARCHAR(5)", "STRING")),
        (("VARCHAR(5)", "VARCHAR(5)"), ("VARCHAR(9)", "VARCHAR(5)")),
        (("CHAR(5)", "CHAR(5)"), ("VARCHAR(9)", "VARCHAR(9)")),
        (("DECIMAL(10, 2)", "DECIMAL(10, 2)"), ("DECIMAL(20, 4)", "DECIMAL(20, 4)")),
        (("DECIMAL(10, 2)", "DECIMAL(10, 2)"), ("DECIMAL(10, 2)", "DECIMAL(20, 4)")),
        (("TIMESTAMP(0)", "TIMESTAMP(0)"), ("TIMESTAMP(0)", "TIMESTAMP(3)")),
        (("INT NOT NULL", "INT NOT NULL"), ("INT", "INT")),
        (("INT NOT NULL", "INT NOT NULL"), ("INT NOT NULL", "INT")),
        (("ROW<a INT>", "ROW<a INT>"), ("ROW<a BIGINT>", "ROW<a BIGINT>")),
    ],
    ids=str,
)
@pytest.mark.parametrize("lengths", ["IGNORE", "TRIM_PAD"])
def test_columns_of_a_sink_that_settles_conflicts(old: tuple[str, str], new: tuple[str, str], lengths: str) -> None:
    """Types of the source and of the sink: either alone, or both."""
    options = {**ALLOW, "table.exec.sink.type-length-enforcer": lengths}
    before, after = (KEYED.format(type=type, sink=sink) for type, sink in (old, new))
    origin = TableEnvironment.create(options).compile_script(before)
    found = TableEnvironment.create(options).compile_script(after, from_plan=origin).comparison
    assert found is not None
    assert all(each.goes_on for each in found.judgements), found.judgements
    assert [each for each in found.judgements if each.state == "sinkMaterializeState"]
    cut = lengths == "TRIM_PAD" and "CHAR" in old[1] and old[1] != new[1]
    assert found.verdict == ("partial" if cut else "full")


@pytest.mark.parametrize(
    ("old", "new", "verdict"),
    [
        ("INT", "BIGINT", "full"),
        ("VARCHAR(5)", "STRING", "full"),
        ("DECIMAL(5, 2)", "DECIMAL(8, 2)", "full"),
        ("ROW<a INT>", "ROW<a BIGINT>", "full"),
        ("DECIMAL(5, 2)", "DECIMAL(20, 2)", "partial"),
        ("DECIMAL(5, 2)", "DECIMAL(8, 3)", "partial"),
        ("ROW<a INT>", "ROW<a INT, b INT>", "partial"),
    ],
)
def test_buckets_of_split_distinct_aggregates(old: str, new: str, verdict: str) -> None:
    """By the hash of a value, which is another one where the type holds it otherwise."""
    options = {**ALLOW, "table.optimizer.distinct-agg.split.enabled": "true"}
    query = "SELECT k, COUNT(DISTINCT x) FROM t0 GROUP BY k"
    pair = Pair(old, new, ())
    before = TableEnvironment.create(options).compile_script(script([pair], new=False) + query)
    found = TableEnvironment.create(options).compile_script(script([pair], new=True) + query, from_plan=before)
    assert found.comparison is not None
    assert found.comparison.verdict == verdict
    assert (verdict == "full") == all(each.goes_on for each in found.comparison.judgements)


@pytest.mark.parametrize(
    ("old", "new", "query", "verdict"),
    [
        ("INT", "BIGINT", "SELECT bare(x) AS z, COUNT(*) AS c FROM t0 GROUP BY bare(x)", "full"),
        ("INT", "BIGINT", "SELECT k, mean(x, w) AS m FROM t0 GROUP BY k", "full"),
        ("INT", "BIGINT", "SELECT k, spread(x) AS m FROM t0 GROUP BY k", "full"),
        ("VARCHAR(5)", "STRING", "SELECT shout(x) AS z, COUNT(*) AS c FROM t0 GROUP BY shout(x)", "full"),
        ("VARCHAR(5)", "STRING", "SELECT k, latest(x) AS m FROM t0 GROUP BY k", "full"),
        ("FLOAT", "DOUBLE", "SELECT k, mean(x, w) AS m FROM t0 GROUP BY k", "partial"),
    ],
)
def test_functions_of_the_user(old: str, new: str, query: str, verdict: str) -> None:
    """They see values, and no types."""
    functions = {"bare": "bare", "mean": "WeightedMean", "spread": "Spread", "shout": "shout", "latest": "Latest"}
    created = "".join(
        f"CREATE TEMPORARY FUNCTION {name} AS '{examples.__name__}:{path}' LANGUAGE PYTHON;\n"
        for name, path in functions.items()
    )
    pair = Pair(old, new, ())
    before = TableEnvironment.create(ALLOW).compile_script(created + script([pair], new=False) + query)
    after = TableEnvironment.create(ALLOW).compile_script(created + script([pair], new=True) + query, from_plan=before)
    assert after.comparison is not None
    assert after.comparison.verdict == verdict, after.comparison.judgements
    assert all(each.goes_on for each in after.comparison.judgements)
