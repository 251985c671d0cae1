"""Rows that a condition drops move event time: what is due is given before the input ends, and none of it is late.

So Spark may not filter below a watermark. The tests have teeth: where nothing keeps it from that, each operator's fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from pyspark.sql.classic.dataframe import DataFrame

from execnodes.state.operator import Operator
from plans.format.load import load
from rekindle.pipeline.record import OperatorRecord, record
from rekindle.testing import RestoreProgram, lines
from rekindle.testing.restore_run import compiled, put, rows, run
from tests.runtime.timed_programs import PROGRAMS, ROWS, SINK, TABLE, TimedProgram

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AT_THE_END = {"SortAtEnd"}
"""Wait for the end of the input alone."""
BY_ROWS = {"table.exec.lateness.granularity": "row"}


def restore_program(program: TimedProgram) -> RestoreProgram:
    return RestoreProgram(
        "dropped",
        TABLE + (SINK.format(program.sink) if program.sink else ""),
        {"o": program.query},
        before={"t/0.json": lines("k v s ts", *(re.sub(r'(\d{4}-\S+) (\S+)"', r'\1T\2"', each) for each in ROWS))},
        configuration=program.options,
    )


def given(program: TimedProgram, spark: SparkSession, folder: Path) -> list[tuple[object, ...]]:
    """The first two columns of what it has given when its rows have been read; nothing ends the stream."""
    made = restore_program(program)
    put(made.before, folder, 0)
    once = compiled(made, folder)
    changes = run(spark, made, once, once.plan.graph, folder=folder, target=folder / "savepoint")
    return sorted(tuple(row[:2]) for row in rows(once, changes)["o"])


@pytest.mark.spark
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_rows_are_due_when_a_dropped_row_has_come(program: TimedProgram, spark: SparkSession, tmp_path: Path) -> None:
    assert given(program, spark, tmp_path) == sorted(program.rows)


@pytest.mark.spark
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_a_filter_below_the_watermark_is_found(
    program: TimedProgram, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(DataFrame, "observe", lambda frame, *_: frame)
    assert given(program, spark, tmp_path) != sorted(program.rows)


def test_every_operator_that_waits_has_a_program(tmp_path: Path) -> None:
    found = set()
    for each in PROGRAMS:
        graph = load(compiled(restore_program(each), tmp_path).plan.as_json_string())
        steps = [step for step in record(graph).steps.values() if isinstance(step, OperatorRecord)]
        names = {type(step.operator).__name__ for step in steps if step.operator.uses_time}
        assert each.operator in names, (each.query, names)
        found |= names
    waiting = {each.__name__ for each in subclasses(Operator) if each.uses_time and each.__module__.startswith("exec")}
    assert waiting - AT_THE_END - {"SortByArrival"} <= found


def subclasses(cls: type[Operator]) -> Iterator[type[Operator]]:
    for each in cls.__subclasses__():
        yield each
        yield from subclasses(each)
