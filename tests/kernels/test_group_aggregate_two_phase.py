"""Local and global aggregates give what one aggregate gives, however the rows are spread over tasks."""

from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.aggregates import accumulator_columns, all_mergeable, mergeable
from execnodes.core.errors import PlanError
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import Field, row
from execnodes.lowering.stream import HASH, KIND, SEQUENCE
from execnodes.state.kernel_types import schema_of
from execnodes.stream.global_group_aggregate import GlobalGroupAggregate
from execnodes.stream.global_group_aggregate.v1_kernel import GlobalGroupAggregateOperator
from execnodes.stream.local_group_aggregate import LocalGroupAggregate
from execnodes.stream.local_group_aggregate.v1_kernel import LocalGroupAggregateKernel
from tests.kernels.fake_state import FakeContext, rows_of, run
from tests.kernels.test_group_aggregate import FLOAT_MODELS, INPUT, NUMBER_MODELS, call, changelogs, operator


def _calls(retract: bool) -> tuple[AggregateCall, ...]:
    pairs = [(function, arg) for function, arg, _ in NUMBER_MODELS + FLOAT_MODELS]
    made = [call(function, arg, filtered=filtered) for function, arg in pairs for filtered in (False, True)]
    return tuple(each for each in made if all_mergeable([each], retract))


def _two_phases(retract: bool, grouping: tuple[int, ...]) -> tuple[LocalGroupAggregate, GlobalGroupAggregate]:
    calls, keys = _calls(retract), tuple(INPUT.fields[index] for index in grouping)
    local_type = row(*keys, *accumulator_columns(calls, INPUT, retract))
    local = LocalGroupAggregate(
        id=1, description="", output_type=local_type, grouping=grouping, agg_calls=calls, need_retraction=retract
    )
    output = row(*keys, *(Field(each.name, each.type) for each in calls))
    merging = GlobalGroupAggregate(
        id=2, description="", output_type=output, grouping=tuple(range(len(grouping))), agg_calls=calls,
        local_agg_input_row_type=INPUT, generate_update_before=True, need_retraction=retract,
    )  # fmt: skip
    local.check((INPUT,))
    merging.check((local_type,))
    return local, merging


def _kernels(
    local: LocalGroupAggregate, merging: GlobalGroupAggregate
) -> tuple[LocalGroupAggregateKernel, GlobalGroupAggregateOperator]:
    first = LocalGroupAggregateKernel(
        input_type=INPUT, output_type=local.output_type, grouping=local.grouping, calls=local.agg_calls,
        retract=local.need_retraction,
    )  # fmt: skip
    second = GlobalGroupAggregateOperator(
        uid=merging.uids()[0], input_type=local.output_type, output_type=merging.output_type, local_input_type=INPUT,
        grouping=merging.grouping, calls=merging.agg_calls, retract=merging.need_retraction, update_before=True,
        ttl_ms=0,
    )  # fmt: skip
    return first, second


@pytest.mark.parametrize("retract", [False, True])
@pytest.mark.parametrize("grouping", [(0,), (), (2, 5)])
@given(data=st.data())
@settings(max_examples=12, deadline=None)
def test_two_phases_give_what_one_gives(retract: bool, grouping: tuple[int, ...], data: st.DataObject) -> None:
    nodes = _two_phases(retract, grouping)
    local, merging = _kernels(*nodes)
    one = operator(nodes[0].agg_calls, retract, grouping)
    context, single = FakeContext(merging), FakeContext(one)
    for batch in data.draw(changelogs(retract)):
        rows = rows_of(one, 0, [r for _, r in batch], [kind for kind, _ in batch], keys=grouping)
        task = pl.Series([data.draw(st.integers(0, 2)) for _ in batch], dtype=pl.Int64)
        parts = [local.fold(rows.drop(HASH).filter(task == number)) for number in range(3)]
        sent = pl.concat(parts)
        assert dict(sent.schema) == {**schema_of(local.output), KIND: pl.Int8(), SEQUENCE: pl.Int64()}
        hashes = [hash(tuple(each[: len(grouping)])) & 0xFFFF for each in sent.rows()]
        sent = sent.with_columns(pl.Series(HASH, hashes, dtype=pl.Int64))
        _assert_same(run(merging, context, sent), run(one, single, rows), len(grouping))


def _assert_same(found: pl.DataFrame, expected: pl.DataFrame, keys: int) -> None:
    """Equal but for order and the last digits of floating sums, which may also make an update where there is none."""
    order = [*expected.columns[:keys], KIND]
    floating = [name for name, dtype in expected.schema.items() if dtype in (pl.Float64, pl.Float32)]
    exact = [name for name in expected.columns if name not in (*floating, SEQUENCE)]
    left, right = (each.filter(pl.col(KIND).is_in([0, 3])).sort(order) for each in (found, expected))
    assert left.select(exact).rows() == right.select(exact).rows()
    left, right = (each.filter(pl.col(KIND) != 1).sort(order).select(exact) for each in (found, expected))
    assert set(right.rows()) <= set(left.rows())


def test_select_distinct_in_two_phases() -> None:
    nodes = _two_phases(False, (0,))
    keys = row(INPUT.fields[0])
    local, merging = _kernels(
        nodes[0].replaced(agg_calls=(), output_type=keys), nodes[1].replaced(agg_calls=(), output_type=keys)
    )
    nodes[1].replaced(agg_calls=(), output_type=keys).check((keys,))
    context = FakeContext(merging)
    rows = rows_of(operator([]), 0, [(key, None, None, None, None, None, None, 0) for key in ("a", None, "a")])
    for expected in ([(None, 0), ("a", 0)], []):
        sent = local.fold(rows.drop(HASH)).with_columns(pl.lit(0, pl.Int64).alias(HASH))
        assert run(merging, context, sent).select("k", KIND).sort("k").rows() == expected


def test_what_cannot_be_split() -> None:
    assert mergeable("$MAX$1")
    assert not mergeable("$LISTAGG$1")
    assert not all_mergeable([call("MAX", "n")], need_retraction=True)
    assert not all_mergeable([call("COUNT", "n", distinct=True)], need_retraction=False)
    local, merging = _two_phases(False, (0,))
    with pytest.raises(PlanError, match=r"node 1 .*a call has no partial results"):
        local.replaced(agg_calls=(call("LISTAGG", "s"),)).check((INPUT,))
    with pytest.raises(PlanError, match=r"node 2 .*must end in the accumulators"):
        merging.check((INPUT,))
    assert local.uids() == ()
    assert merging.uids() == ("2_global-group-aggregate",)
