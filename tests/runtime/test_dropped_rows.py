"""Rows that a condition drops move event time: what is due comes before the input ends, what is late is dropped."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes import stream
from execnodes.state.operator import Operator
from plans.format.load import load
from rekindle.pipeline.record import OperatorRecord, record
from rekindle.testing import RestoreProgram
from rekindle.testing.restore_run import compiled, put, rows, run
from tests.runtime.timed_programs import LATE_ROW, PROGRAMS, ROWS, SINK, TABLE, TimedProgram

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OTHERS = {"SortAtEnd", "FirstByTimeAtOnce"}
"""One waits for the end of the input alone, the other takes rows however late, and waits for what a savepoint has."""


def restore_program(program: TimedProgram) -> RestoreProgram:
    return RestoreProgram(
        "dropped",
        TABLE + (SINK.format(program.sink) if program.sink else ""),
        {"o": program.query},
        before={"t/0.json": ROWS + program.more, "t/1.json": LATE_ROW},
        configuration={**program.options, "execution.micro-batch.max-files": "1"},
    )


def given(program: TimedProgram, spark: SparkSession, folder: Path) -> list[tuple[object, ...]]:
    """The first two columns of what it has given when its rows have been read; nothing ends the stream."""
    made = restore_program(program)
    for at, (name, text) in enumerate(made.before.items()):
        put({name: text}, folder, at)
    once = compiled(made, folder)
    changes = run(spark, made, once, once.plan.graph, folder=folder, target=folder / "savepoint")
    return sorted(tuple(row[:2]) for row in rows(once, changes)["o"])


@pytest.mark.spark
@pytest.mark.parametrize("program", PROGRAMS, ids=str)
def test_rows_are_due_when_a_dropped_row_has_come(program: TimedProgram, spark: SparkSession, tmp_path: Path) -> None:
    assert given(program, spark, tmp_path) == sorted(program.rows)


def test_every_operator_that_waits_has_a_program(tmp_path: Path) -> None:
    found = set()
    for each in PROGRAMS:
        graph = load(compiled(restore_program(each), tmp_path).plan.as_json_string())
        steps = [step for step in record(graph).steps.values() if isinstance(step, OperatorRecord)]
        names = {type(step.operator).__name__ for step in steps if step.operator.uses_time}
        assert each.operator in names, (each.query, names)
        found |= names
    for module in pkgutil.walk_packages(stream.__path__, f"{stream.__name__}."):
        importlib.import_module(module.name)
    operators = [each for each in subclasses(Operator) if issubclass(each, Operator) and not inspect.isabstract(each)]
    waiting = {each.__name__ for each in operators if each.uses_time}
    assert waiting - OTHERS <= found


def subclasses(cls: type[object]) -> Iterator[type[object]]:
    for each in cls.__subclasses__():
        yield each
        yield from subclasses(each)
