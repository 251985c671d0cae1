"""A node reads its input by position: rows are the same whatever other nodes have called its columns.

Equal parts of queries are one node, which has the names of one of them only.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from execnodes.core.types import parse_type, row
from plans.format.codec import encode
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.testing import runner
from rekindle.testing.programs import Program, in_batch
from rekindle.testing.report import lines_of
from rekindle.testing.runner import Outcome, Settings, run_programs
from tests.conformance.test_batch import PROGRAMS, QUICK
from tests.conformance.test_conformance import SUPPORTED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

NAMED_OUTSIDE = ("table-source", "sink")
"""Nodes whose columns are those of a table."""
SAMPLE = (
    "cdc/normalize", "cdc/top_n", "dedup/first_row_out_of_order", "dedup/last_row_mini_batch", "group-aggregate/cube",
    "join/full", "over/range_bounded_late", "over/rows_bounded", "set/intersect_all", "sort/by_event_time",
    "top-n/top3_with_rank", "unnest/left_join_on", "window/dedup_first", "window/session_no_key", "window/top_n",
)  # fmt: skip


Naming = Callable[[int, int, int], str]
"""Id of a node, number of its columns, place of one: its name."""


def never_the_same(node: int, width: int, place: int) -> str:
    """No column is called as that of the input is."""
    return f"x{node}_{place}"


def from_the_end(node: int, width: int, place: int) -> str:
    """What a node adds behind the columns of its input is called as one of these."""
    return f"x{width - 1 - place}"


def renamed(plan: CompiledPlan, name: Naming) -> CompiledPlan:
    """The plan with other names for the columns of its nodes."""
    document = json.loads(encode(plan.graph))
    for node in document["nodes"]:
        if not any(each in node["type"] for each in NAMED_OUTSIDE):
            fields = parse_type(node["outputType"]).fields
            named = (replace(each, name=name(node["id"], len(fields), at)) for at, each in enumerate(fields))
            node["outputType"] = str(row(*named))
    return CompiledPlan(json.dumps(document))


@pytest.fixture(params=[never_the_same, from_the_end])
def run(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, spark: SparkSession
) -> Callable[[list[Program], Settings], None]:
    execute = runner.execute
    monkeypatch.setattr(runner, "execute", lambda plan, *rest: execute(renamed(plan, request.param), *rest))

    def run(programs: list[Program], settings: Settings) -> None:
        results = run_programs(programs, settings, spark=spark)
        wrong = (each for each in results if each.verdict.outcome is Outcome.FAILED)
        assert not [line for each in wrong for line in lines_of(each)]

    return run


@pytest.mark.spark
def test_a_stream_has_its_rows(run: Callable[[list[Program], Settings], None]) -> None:
    programs = [each for each in SUPPORTED if each.name in SAMPLE]
    assert len(programs) == len(SAMPLE)
    run(programs, Settings(parallel=2))


@pytest.mark.spark
@pytest.mark.long
def test_every_stream_has_its_rows(run: Callable[[list[Program], Settings], None]) -> None:
    run(SUPPORTED, Settings(parallel=2))


@pytest.mark.spark
@pytest.mark.long
def test_every_batch_has_its_rows(run: Callable[[list[Program], Settings], None]) -> None:
    run(in_batch(PROGRAMS), Settings(QUICK, parallel=2))
