"""Aggregate functions that merge: folded before the shuffle, put together behind it, over the same state as before."""

from __future__ import annotations

import json
import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.errors import PlanError
from execnodes.core.types import Field, row
from execnodes.lowering.stream import HASH
from execnodes.stream.local_python_group_aggregate.v1_kernel import LocalPythonGroupAggregateKernel
from execnodes.stream.python_group_aggregate.v1_kernel import STATE
from execnodes.stream.python_group_aggregate.v2_kernel import MergingOperator
from execnodes.user_functions.loading import definition_of
from execnodes.user_functions.partial import partial_columns
from plans.evolution.evolve import evolve
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.udf import AggregateFunction
from tests.kernels.fake_state import FakeContext, rows_of, run
from tests.user_functions.test_aggregates import COUNT, INPUT, call, materialized, operator, table

Rows = list[tuple[Any, ...]]


@dataclass
class Sums:
    total: int = 0
    count: int = 0


class Mean(AggregateFunction):
    """Changes the accumulator."""

    def create_accumulator(self) -> Sums:
        return Sums()

    def accumulate(self, accumulator: Sums, value: float | None) -> None:
        accumulator.total += int(value or 0)
        accumulator.count += 1

    def merge(self, accumulator: Sums, accumulators: Sequence[Sums]) -> None:
        for each in accumulators:
            accumulator.total += each.total
            accumulator.count += each.count

    def get_value(self, accumulator: Sums) -> float | None:
        return accumulator.total / accumulator.count if accumulator.count else None


class Words(AggregateFunction):
    """Returns another accumulator, which is pickled."""

    def create_accumulator(self) -> frozenset[str]:
        return frozenset()

    def accumulate(self, accumulator: frozenset[str], word: str) -> frozenset[str]:
        return accumulator | {word}

    def merge(self, accumulator: frozenset[str], accumulators: Sequence[frozenset[str]]) -> frozenset[str]:
        return accumulator.union(*accumulators)

    def get_value(self, accumulator: frozenset[str]) -> int:
        return len(accumulator)


class Failing(Mean):
    def merge(self, accumulator: Sums, accumulators: Sequence[Sums]) -> None:
        raise ValueError("no")


class InOrder(Mean):
    merge = None  # type: ignore[assignment]  # a function that cannot merge


FUNCTIONS = {"mean": Mean, "mean_f": Mean, "words": Words}
CALLS = (call(Mean, 1, name="mean"), call(Mean, 1, name="mean_f", filtered=True), COUNT, call(Words, 3, name="words"))


def two_phases(grouping: tuple[int, ...]) -> tuple[LocalPythonGroupAggregateKernel, MergingOperator]:
    keys = [INPUT.fields[at] for at in grouping]
    between = row(*keys, *partial_columns(CALLS, INPUT))
    local = LocalPythonGroupAggregateKernel(input_type=INPUT, output_type=between, grouping=grouping, calls=CALLS)
    results = (Field(each.name, each.type) for each in operator({**FUNCTIONS}, CALLS).output[1:])
    merging = MergingOperator(
        uid="1_python-group-aggregate", input_type=between, local_input_type=INPUT, grouping=tuple(range(len(keys))),
        calls=CALLS, output_type=row(*keys, *results),
        update_before=True, ttl_ms=0,
    )  # fmt: skip
    definitions = {name: definition_of(function, name) for name, function in FUNCTIONS.items()}
    local.supply(definitions)
    merging.supply(definitions)
    return pickle.loads(pickle.dumps((local, merging)))  # type: ignore[no-any-return]


@settings(deadline=None, max_examples=40)
@given(table, st.integers(1, 5), st.sampled_from([(0,), ()]), st.integers(0, 3))
def test_two_phases_give_what_one_gives(rows: Rows, size: int, grouping: tuple[int, ...], tasks: int) -> None:
    """The second half of the batches by tasks, over the state that the first half has left without them."""
    whole = operator({**FUNCTIONS}, CALLS, False, grouping)
    local, merging = two_phases(grouping)
    alone, context = FakeContext(whole), FakeContext(merging)
    cuts = [rows[at : at + size] for at in range(0, len(rows), size)]
    expected, found = [], []
    for number, cut in enumerate(cuts):
        batch = rows_of(whole, 0, cut, keys=grouping)
        expected.append(run(whole, alone, batch))
        if number < len(cuts) // 2:
            found.append(expected[-1])
            context.states[STATE].frame = alone.states[STATE].frame
            continue
        parts = [local.fold(batch[at :: tasks + 1]) for at in range(tasks + 1)]
        found.append(run(merging, context, pl.concat(parts)))
    width = len(grouping)
    assert materialized(found, width) == materialized(expected, width)
    columns = context.states[STATE].frame.columns
    assert columns == alone.states[STATE].frame.columns
    assert not local.fold(rows_of(whole, 0, [], keys=grouping)).height


def test_a_failure_names_the_method() -> None:
    calls = (call(Failing, 1, name="u"),)
    between = row(INPUT.fields[0], *partial_columns(calls, INPUT))
    local = LocalPythonGroupAggregateKernel(input_type=INPUT, output_type=between, grouping=(0,), calls=calls)
    merging = MergingOperator(
        uid="1_u", input_type=between, local_input_type=INPUT, grouping=(0,), calls=calls, update_before=True,
        output_type=row(INPUT.fields[0], INPUT.fields[1]), ttl_ms=0,
    )  # fmt: skip
    definitions = {"u": definition_of(Failing, "u")}
    local.supply(definitions)
    merging.supply(definitions)
    batch = rows_of(operator({"u": Failing}, calls), 0, [("x", 1.0, None, None, None)], keys=[0])
    with pytest.raises(Exception, match="function u failed in merge: ValueError: no"):
        run(merging, FakeContext(merging), local.fold(batch))
    assert HASH in local.fold(batch).columns


TABLES = """
CREATE TABLE t (k STRING, v DOUBLE) WITH ('connector' = 'filesystem', 'path' = '/t', 'format' = 'json');
CREATE TABLE c (k STRING, v DOUBLE) WITH ('connector' = 'filesystem', 'path' = '/c', 'format' = 'debezium-json');
"""


def environment(**options: str) -> TableEnvironment:
    made = TableEnvironment.create({f"table.optimizer.{key.replace('_', '-')}": text for key, text in options.items()})
    made.execute_script(TABLES)
    made.create_temporary_function("mean", Mean())
    made.create_temporary_function("in_order", InOrder())
    return made


def kinds(query: str, **options: str) -> list[str]:
    plan = environment(**options).compile_plan_sql(query).as_json_string()
    return [each["type"].removeprefix("stream-exec-") for each in json.loads(plan)["nodes"]][1:-1]


TWO = ["local-python-group-aggregate_1", "exchange_1", "python-group-aggregate_3"]
ONE = ["exchange_1", "python-group-aggregate_3"]


@pytest.mark.parametrize(
    ("query", "options", "expected"),
    [
        ("SELECT k, mean(v), COUNT(*) FROM t GROUP BY k", {}, TWO),
        ("SELECT mean(v) FROM t", {}, TWO),
        ("SELECT k, mean(v) FROM t GROUP BY k", {"agg_phase_strategy": "ONE_PHASE"}, ONE),
        ("SELECT k, mean(v), in_order(v) FROM t GROUP BY k", {}, ONE),
        ("SELECT k, mean(v), COUNT(DISTINCT v) FROM t GROUP BY k", {}, ONE),
        ("SELECT k, mean(v), LAST_VALUE(v) FROM t GROUP BY k", {}, ONE),
    ],
)
def test_plans(query: str, options: dict[str, str], expected: list[str]) -> None:
    assert kinds(query, **options) == expected


def test_state_goes_on_from_one_phase_to_two() -> None:
    query = "SELECT k, mean(v) AS m, COUNT(*) AS n, MAX(v) AS x FROM t GROUP BY k"
    one, two = (
        environment(agg_phase_strategy=strategy).compile_plan_sql(query).graph for strategy in ("ONE_PHASE", "AUTO")
    )
    for old, new in ((one, two), (two, one)):
        found = evolve(old, new)
        assert found.comparison.verdict == "full"
        assert {each.state: each.fate for each in found.comparison.judgements} == {
            "position": "keep", "pythonGroupAggregateState": "keep",
        }  # fmt: skip


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"needRetraction": True}, "what was folded before cannot be taken back"),
        ({"grouping": []}, "outputType: it has 2 columns"),
        ({"aggCalls": []}, "outputType: it has 2 columns"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(change: dict[str, Any], message: str) -> None:
    plan = json.loads(environment().compile_plan_sql("SELECT k, mean(v) AS m FROM t GROUP BY k").as_json_string())
    node = next(each for each in plan["nodes"] if each["type"].startswith("stream-exec-python"))
    node.update(change)
    with pytest.raises(PlanError, match=message):
        load(json.dumps(plan))
