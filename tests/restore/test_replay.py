"""Restores without Spark: each operator goes on from its savepoint, and does what it did when that was recorded."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import pytest

from execnodes.core.metadata import NodeKey
from execnodes.core.registry import UnknownNodeError, lookup
from execnodes.core.types import NESTED, LogicalType
from execnodes.engine.bodies import STATE
from execnodes.engine.slot_frames import to_kernel
from execnodes.lowering.slots import slot_kind
from execnodes.lowering.stream import HASH
from execnodes.state.operator import BUCKET, Context, Operator, StateSpec
from rekindle.pipeline.record import OperatorRecord, record
from rekindle.savepoints.file_columns import duckdb_type
from rekindle.savepoints.manifest import parsed
from rekindle.savepoints.restore import prepare
from rekindle.testing.restore_fixtures import PLAN, SAVEPOINT, stored
from tests.restore.calls import as_json, in_order
from tests.restore.modes import GRANULARITY, OLD_GRANULARITY, ONE_MODE, InMode, in_modes, is_timed
from tests.restore.program import RestoreProgram, programs
from tests.restore.replay import Restored, problems, restored, saved_rows
from tests.restore.with_spark import RECOMPILED, WITH_SPARK, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.mark.parametrize("each", in_modes(), ids=str)
def test_operators_go_on(tmp_path: Path, each: InMode) -> None:
    assert each.calls.exists(), "run python -m tests.restore.recording"
    assert list(problems(each, tmp_path)) == []


@pytest.mark.parametrize("each", [each for each in in_modes() if each.own], ids=str)
def test_states_are_read_back(tmp_path: Path, each: InMode) -> None:
    """From segments, as they were in the savepoint, but for what operators take over otherwise."""
    now = 1_700_000_000_000
    found = restored(each, tmp_path, now)
    for number, rows in found.saved.items():
        kept = found.states(number, now)
        for name, wanted in _as_saved(found, number, rows).items():
            assert kept[name] == wanted, f"node {number}: {name}"


def _as_saved(found: Restored, number: int, rows: pl.DataFrame) -> dict[str, list[list[Any]]]:
    """Rows of the savepoint, of those states of an operator that it restores as they are."""
    step = found.lowered.steps[number]
    assert isinstance(step, OperatorRecord)
    operator = step.operator
    if rows.filter(pl.col(STATE) >= len(operator.states)).height or type(operator).restore is not Operator.restore:
        return {}
    wanted = {}
    for at, spec in enumerate(operator.states):
        own = to_kernel(rows.filter(pl.col(STATE) == at), spec.columns, list(_address(spec)))
        wanted[spec.name] = in_order(as_json(own.select(list(spec.schema))))
    return wanted


def _address(spec: StateSpec) -> tuple[str, ...]:
    return (BUCKET, HASH) if spec.bucketed else (HASH,)


def test_programs_of_one_mode_read_none() -> None:
    """The other one would be the same, but for those that say why they have it not."""
    reading = {str(each) for each in programs() if {GRANULARITY, OLD_GRANULARITY} & _consumed(each)}
    assert reading - {str(each) for each in programs() if is_timed(each)} == set(ONE_MODE)


def _consumed(program: RestoreProgram) -> set[str]:
    """Options that nodes of its plan read."""
    return {key for node in stored(program.fixture).nodes for key in node.configuration}


def test_a_state_that_is_not_restored_whole_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Operator.restore

    def without_the_first(operator: Operator, name: str, rows: pl.DataFrame, context: Context) -> None:
        whole(operator, name, rows[1:], context)

    monkeypatch.setattr(Operator, "restore", without_the_first)
    (each,) = (each for each in in_modes() if str(each) == "stream-exec-correlate_2/wanted/default")
    found = "\n".join(problems(each, tmp_path))
    assert "step 0: " in found
    assert "groupAggregateState held" in found


def _with_state(program: RestoreProgram) -> set[str]:
    """Node versions of its plan with rows in its savepoint."""
    manifest, _, _ = parsed(program.fixture / SAVEPOINT / "manifest.json")
    saved = {int(each.uid.partition("_")[0]) for each in manifest.states if each.rows}
    nodes = json.loads((program.fixture / PLAN).read_text(encoding="utf-8"))["nodes"]
    return {node["type"] for node in nodes if node["id"] in saved}


def test_programs_without_state_go_on_with_spark() -> None:
    assert {str(each) for each in programs() if not _with_state(each)} <= set(WITH_SPARK)
    assert {*WITH_SPARK, *RECOMPILED} <= {name for name, *_ in table()}


@pytest.mark.parametrize("each", in_modes(), ids=str)
def test_every_operator_is_called(each: InMode) -> None:
    """After the cut: of all whose states are not empty, or Spark goes on with them in the fast suite."""
    calls = [json.loads(line) for line in each.calls.read_text(encoding="utf-8").splitlines()]
    manifest, _, _ = parsed(each.fixture / SAVEPOINT / "manifest.json")
    saved = {int(state.uid.partition("_")[0]) for state in manifest.states if state.rows}
    assert saved <= {call["node"] for call in calls} or str(each.node_program) in WITH_SPARK


def kinds(program: RestoreProgram) -> Iterator[str]:
    """What is between the files of its savepoint and its operators: values, serializers, and who takes rows over."""
    graph = stored(program.fixture)
    restore = prepare(program.fixture / SAVEPOINT, graph, drop_unclaimed=False, drop=frozenset())
    for step in record(graph).steps.values():
        for each in restore.of_operator(step.operator) if isinstance(step, OperatorRecord) else ():
            yield from (_conversion(column.type) for column in each.spec.columns if column.name in each.columns)
            yield from ["buckets"] * each.spec.bucketed + ["time to live"] * each.ages
            assert isinstance(step, OperatorRecord)
            yield from ["earlier layout"] * (each.spec in step.operator.earlier)
    for node in json.loads((program.fixture / PLAN).read_text(encoding="utf-8"))["nodes"]:
        for call in node.get("aggCalls", ()):
            if "accumulator" in call and "serializer" in call["accumulator"]:
                yield f"serializer {call['accumulator']['serializer']}"
        try:
            lookup(NodeKey.parse(node["type"]))
        except UnknownNodeError:
            yield "a version that is no longer executed"


def _conversion(t: LogicalType) -> str:
    """How values come from files into slots (see `Restore.rows`)."""
    return "nested" if t.root in NESTED else f"{duckdb_type(t).partition('(')[0]} in {slot_kind(t)}"


def test_every_kind_goes_on_with_spark() -> None:
    """In the fast suite."""
    there = {str(each): set(kinds(each)) for each in programs() if not each.refused}
    fast = set[str]().union(*(there[name] for name in WITH_SPARK if name in there))
    assert sorted(set[str]().union(*there.values()) - fast) == []


@pytest.mark.spark
@pytest.mark.long
def test_rows_are_those_that_spark_reads(spark: SparkSession) -> None:
    """Slots and hashes of all savepoints: what is computed here, and what jobs have Spark compute."""
    for each in [each for each in in_modes() if each.fixture.exists()]:
        graph = stored(each.fixture)
        restore = prepare(each.fixture / SAVEPOINT, graph, drop_unclaimed=False, drop=frozenset())
        for step in record(graph).steps.values():
            if isinstance(step, OperatorRecord):
                read, here = restore.rows(spark, step), saved_rows(restore, step.operator)
                assert (read is None) == (here is None)
                if read is not None and here is not None:
                    assert in_order(as_json(pl.DataFrame(read.toArrow()))) == in_order(as_json(here)), each
