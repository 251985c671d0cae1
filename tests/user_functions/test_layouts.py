"""Accumulators that change while a job goes on in its own folder: pages are converted when they are touched."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from execnodes.core.errors import StateError
from execnodes.core.graph import ExecGraph
from execnodes.lowering.stream import HASH
from execnodes.state.operator import StateSpec
from execnodes.state.pages.page_format import Page, decode, layout
from plans.compatibility.user_functions import with_accumulators
from rekindle.api.table_environment import TableEnvironment
from rekindle.files.job_folder import JobFolder
from rekindle.pipeline.page_layouts import page_layouts, supply_layouts
from rekindle.pipeline.record import OperatorRecord, record
from rekindle.pipeline.resolved import resolved_text
from rekindle.udf import AggregateFunction
from tests.user_functions.evolving import JsonSerializer, total_of

FIRST = total_of(("total", int, 0), ("gone", str, "x"))
SECOND = total_of(("count", int, 100), ("total", int, 0))
THIRD = total_of(("total", int, 0), ("gone", str, "back"))
REORDERED = total_of(("gone", str, "x"), ("total", int, 0))
RETYPED = total_of(("total", float, 0.0))


def json_total(prefix: str) -> type[AggregateFunction]:
    class Total(FIRST):  # type: ignore[misc, valid-type]  # made by a function
        def get_accumulator_type(self) -> Any:
            return JsonSerializer(prefix)

    return Total


def graph(function: type[AggregateFunction]) -> ExecGraph:
    """A plan over the function as it is at one start of a job."""
    environment = TableEnvironment.create({})
    environment.create_temporary_function("total", FIRST if function in AGES else json_total("v1:"))
    environment.execute_sql(
        "CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json')"
    )
    compiled = environment.compile_plan_sql("SELECT k, COUNT(*) AS c, TOTAL(v) AS s FROM t GROUP BY k").graph
    environment.execute_sql("DROP TEMPORARY FUNCTION total")
    environment.create_temporary_function("total", function)
    return with_accumulators(compiled, environment.functions_of(compiled))


AGES = (FIRST, SECOND, THIRD, REORDERED, RETYPED)


class Starts:
    """A job's folder over several starts."""

    def __init__(self, path: Path) -> None:
        self.folder = JobFolder(path)
        (self.folder.checkpoint / "commits").mkdir(parents=True)

    def start(self, function: type[AggregateFunction]) -> StateSpec:
        """The state as the job then reads and writes it; a micro-batch is committed."""
        now = graph(function)
        layouts = page_layouts(self.folder, now)
        self.folder.resolved_file.write_text(resolved_text(now))
        steps = record(now).steps.values()
        supply_layouts(steps, layouts.conversions)
        layouts.keep(self.folder)
        (self.folder.checkpoint / "commits" / "0").write_text("v1\n{}")
        (operator,) = (each.operator for each in steps if isinstance(each, OperatorRecord))
        (spec,) = operator.states
        return spec


@pytest.fixture
def starts(tmp_path: Path) -> Starts:
    return Starts(tmp_path)


def rows(spec: StateSpec, *values: Sequence[Any]) -> pl.DataFrame:
    """Rows of state, without hash."""
    return pl.DataFrame([(0, *each) for each in values], schema=spec.schema, orient="row")


def page(spec: StateSpec, *values: Sequence[Any]) -> Page:
    now = layout(spec)
    given = rows(spec, *values).select(pl.col(name).cast(dtype) for name, dtype in now.stored.items())
    (batch,) = given.rechunk().to_arrow().cast(now.arrow).combine_chunks().to_batches()
    return Page(spec.number, batch.serialize())


def test_pages_of_every_layout_are_read(starts: Starts, caplog: pytest.LogCaptureFixture) -> None:
    first = starts.start(FIRST)
    pages = [page(first, ("a", 1, 10, "p"), ("b", 2, None, None))]
    with caplog.at_level(logging.INFO, logger="rekindle.savepoints"):
        second = starts.start(SECOND)
    assert "fields added count and removed gone; pages are converted when they are touched" in caplog.text
    assert (first.number, second.number, starts.start(SECOND).number) == (1, 2, 2)
    pages.append(page(second, ("c", 1, 7, 3)))
    third = starts.start(THIRD)
    pages.append(page(third, ("d", 4, 5, "q")))
    found, converted = decode(third, pages)
    # The first pages go through the second layout, so what it forgot is not there again.
    assert found.drop(HASH).rows() == [
        ("a", 1, 10, "back"),
        ("b", 2, None, "back"),
        ("c", 1, 3, "back"),
        ("d", 4, 5, "q"),
    ]
    assert converted == 3


def test_the_same_columns_in_another_order_are_another_layout(starts: Starts) -> None:
    pages = [page(starts.start(FIRST), ("a", 1, 10, "p"))]
    now = starts.start(REORDERED)
    found, _ = decode(now, pages)
    assert found.select("s$total", "s$gone").rows() == [(10, "p")]


def test_a_serializer_of_the_user_reads_with_the_old_and_writes_with_the_new(starts: Starts) -> None:
    pages = [page(starts.start(json_total("v1:")), ("a", 1, b'{"v1:total": 4}'))]
    found, _ = decode(starts.start(json_total("v2:")), pages)
    assert found.drop(HASH).rows() == [("a", 1, b'{"v2:total": 4}')]


def test_what_cannot_be_converted_is_refused_before_anything_runs(starts: Starts) -> None:
    starts.start(FIRST)
    kept = starts.folder.page_layouts_file.read_text()
    with pytest.raises(StateError, match="field total was BIGINT and is DOUBLE"):
        starts.start(RETYPED)
    assert starts.folder.page_layouts_file.read_text() == kept


def test_a_serializer_that_fails_is_named(starts: Starts) -> None:
    pages = [page(starts.start(json_total("v1:")), ("a", 1, b"no JSON"))]
    with pytest.raises(StateError, match=r"accumulator of .*total.* cannot be converted: JSONDecodeError"):
        decode(starts.start(json_total("v2:")), pages)
