"""Times that operators go by are required wherever rows come to them: through Spark, or handed over in Python."""

from __future__ import annotations

from functools import cache

import polars as pl
import pytest

from execnodes.core.errors import JobError
from execnodes.core.places import explain
from execnodes.lowering.stream import KIND
from rekindle.api.table_environment import TableEnvironment
from rekindle.engine.host import _passed
from rekindle.pipeline.hosts import Handed, Size, hosts_of
from rekindle.pipeline.record import Record, record
from rekindle.pipeline.ways import plan_ways
from tests.runtime.test_null_times import CASES, TABLES, Case

IDS = [case.query[:60] for case in CASES]
TABLE = "default_catalog.default_database.t"


def recorded(case: Case, table: str) -> Record:
    script = TABLES.format(t="/nowhere/t", good="/nowhere/good")
    query = f"INSERT INTO o {case.query.format(table)}"
    return record(TableEnvironment.create({}).compile_script(f"{script};\n{query}").graph)


@pytest.mark.parametrize("case", CASES, ids=IDS)
def test_what_comes_through_spark_fails(case: Case) -> None:
    made = recorded(case, "t")
    checks = {missing: text for text, (_, missing) in made.checked.items() if missing.table == TABLE}
    assert checks
    for missing, text in checks.items():
        assert missing.column == "ts"
        assert missing.hint == "Leave such rows out before: WHERE ts IS NOT NULL."
        assert case.text in str(missing.place)
        assert text.strip("(").startswith("coalesce(c")
        assert "[row" in text
    inputs = [each.rows for step in made.steps.values() for each in step.inputs]
    inputs += [each.rows for each in made.sinks]
    read = [text for rows in inputs for branch in rows.branches for text in branch.columns]
    assert any(text in made.checked for text in read) or any(check in text for text in read for check in made.checked)


@cache
def handed() -> Handed:
    """Rows of a join that come to a sort."""
    made = recorded(CASES[0], "behind")
    found = hosts_of(plan_ways(made), Size.FEW)
    return next(each for host in found.hosts for each in host.handed if each.times)


def test_what_is_handed_over_fails() -> None:
    rows = handed()
    (slot, missing) = rows.times[0]
    names = [name for name, _ in rows.slots]
    of_origin = dict(rows.slots)[slot]
    columns = {
        origin: pl.Series([1, 2] if origin == of_origin else [None, None], dtype=pl.Int64) for _, origin in rows.slots
    }
    frame = pl.DataFrame({KIND: pl.Series([0, 0], dtype=pl.Int8), **columns})
    assert _passed(frame, rows, names)[slot].to_list() == [1, 2]
    with pytest.raises(JobError) as raised:
        _passed(frame.with_columns(pl.lit(None, pl.Int64).alias(of_origin)), rows, names)
    message, place, _ = explain(raised.value.message)
    assert message == "RowTime field should not be null: column 'ts' is NULL"
    assert place is not None
    assert place.text == missing.place.text == "ts"


def test_rows_of_a_join_are_still_handed_over() -> None:
    """What is required does not keep rows from staying in Python."""
    for case in CASES:
        made = recorded(case, "behind")
        joins = [number for number, step in made.steps.items() if "interval-join" in step.node.type]
        found = hosts_of(plan_ways(made), Size.FEW)
        taken = {each.origin for host in found.hosts for each in host.handed if each.times}
        assert taken <= {*joins}
        computes = "MINUTE(" in case.query or "MATCH" in case.query
        assert taken or computes, case.query


def test_a_plan_without_places_names_the_node() -> None:
    script = TABLES.format(t="/nowhere/t", good="/nowhere/good")
    graph = TableEnvironment.create({}).compile_script(f"{script};\nINSERT INTO o SELECT id FROM t ORDER BY ts").graph
    for node in graph.nodes:
        node.put(None)
    (missing,) = {missing for _, missing in record(graph).checked.values()}
    assert str(missing.place) == "node 4 (stream-exec-temporal-sort_1)"


def test_what_goes_by_no_time_is_not_asked() -> None:
    script = TABLES.format(t="/nowhere/t", good="/nowhere/good")
    queries = ("SELECT id FROM t", "SELECT k FROM t GROUP BY k", "SELECT l.id FROM t AS l JOIN good ON l.k = good.k")
    for query in queries:
        graph = TableEnvironment.create({}).compile_script(f"{script};\nINSERT INTO o {query}").graph
        assert record(graph).checked == {}
