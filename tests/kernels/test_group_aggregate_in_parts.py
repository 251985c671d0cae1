"""An incremental and a global aggregate give what one aggregate gives, whatever the parts of the groups are."""

from __future__ import annotations

import pickle

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.aggregates import accumulator_columns, all_mergeable
from execnodes.core.errors import PlanError
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import INT, Field, row
from execnodes.lowering.stream import HASH, KIND
from execnodes.state.kernel_types import schema_of
from execnodes.stream.global_group_aggregate import GlobalGroupAggregate
from execnodes.stream.global_group_aggregate.v1_kernel import GlobalGroupAggregateOperator
from execnodes.stream.group_aggregate.v1_kernel import GroupAggregateOperator
from execnodes.stream.incremental_group_aggregate import IncrementalGroupAggregate
from execnodes.stream.incremental_group_aggregate.v1_kernel import IncrementalGroupAggregateOperator
from tests.kernels.fake_state import FakeContext, rows_of, run
from tests.kernels.test_group_aggregate import INPUT, call, changelogs

PART = len(INPUT.fields)
SPLIT = row(*INPUT.fields, Field("$bucket", INT.not_null()))


def _calls(retract: bool) -> tuple[AggregateCall, ...]:
    """DISTINCT over one column, with and without FILTER, beside all else that can be merged."""
    distinct = [
        call(function, "n", distinct=True, filtered=filtered)
        for function in ("COUNT", "SUM", "AVG")
        for filtered in (False, True)
    ]
    plain = [call("COUNT", filtered=True), call("COUNT"), call("SUM", "d"), call("AVG", "m"), call("MIN", "s")]
    return (*distinct, *(each for each in plain if all_mergeable([each], retract)))


def _nodes(retract: bool, grouping: tuple[int, ...]) -> tuple[IncrementalGroupAggregate, GlobalGroupAggregate]:
    calls, keys = _calls(retract), tuple(INPUT.fields[index] for index in grouping)
    sent = row(*keys, *accumulator_columns(calls, SPLIT, retract))
    parts = IncrementalGroupAggregate(
        id=1, description="", output_type=sent, partial_agg_grouping=(*grouping, PART), final_agg_grouping=grouping,
        partial_original_agg_calls=calls, partial_agg_need_retraction=retract,
    )  # fmt: skip
    merging = GlobalGroupAggregate(
        id=2, description="", output_type=row(*keys, *(Field(each.name, each.type) for each in calls)),
        grouping=tuple(range(len(grouping))),
        agg_calls=tuple(each.model_copy(update={"distinct": False}) for each in calls),
        local_agg_input_row_type=SPLIT, generate_update_before=True, need_retraction=retract,
    )  # fmt: skip
    parts.check((SPLIT,))
    merging.check((sent,))
    return parts, merging


def _operators(
    parts: IncrementalGroupAggregate, merging: GlobalGroupAggregate, ttl_ms: int
) -> tuple[IncrementalGroupAggregateOperator, GlobalGroupAggregateOperator, GroupAggregateOperator]:
    retract, grouping = parts.partial_agg_need_retraction, parts.final_agg_grouping
    first = IncrementalGroupAggregateOperator(
        uid=parts.uids()[0], input_type=SPLIT, output_type=parts.output_type, parts=parts.partial_agg_grouping,
        groups=len(grouping), calls=parts.partial_original_agg_calls, retract=retract, ttl_ms=ttl_ms,
    )  # fmt: skip
    second = GlobalGroupAggregateOperator(
        uid=merging.uids()[0], input_type=parts.output_type, output_type=merging.output_type, local_input_type=SPLIT,
        grouping=merging.grouping, calls=merging.agg_calls, retract=retract, update_before=True, ttl_ms=ttl_ms,
    )  # fmt: skip
    one = GroupAggregateOperator(
        uid="3_group-aggregate", input_type=SPLIT, output_type=merging.output_type, grouping=grouping,
        calls=parts.partial_original_agg_calls, retract=retract, update_before=True, ttl_ms=ttl_ms,
    )  # fmt: skip
    again = pickle.loads(pickle.dumps(first))
    assert isinstance(again, IncrementalGroupAggregateOperator)
    return again, second, one


@pytest.mark.parametrize("retract", [False, True])
@pytest.mark.parametrize("grouping", [(0,), (), (2, 5)])
@given(data=st.data(), buckets=st.integers(1, 3), ttl_ms=st.sampled_from([0, 10**9]))
@settings(max_examples=12, deadline=None)
def test_parts_give_what_one_aggregate_gives(
    retract: bool, grouping: tuple[int, ...], data: st.DataObject, buckets: int, ttl_ms: int
) -> None:
    first, second, one = _operators(*_nodes(retract, grouping), ttl_ms)
    contexts = tuple(FakeContext(each) for each in (first, second, one))
    for batch in data.draw(changelogs(retract)):
        # Equal values are in one part; NULL has a part, too.
        whole = [(*values, hash(values[1]) % buckets) for _, values in batch]
        kinds = [kind for kind, _ in batch]
        sent = run(first, contexts[0], rows_of(first, 0, whole, kinds, keys=(*grouping, PART)))
        assert {name: sent.schema[name] for name in schema_of(first.output)} == schema_of(first.output)
        hashes = [hash(tuple(each[: len(grouping)])) & 0xFFFF for each in sent.rows()]
        found = run(second, contexts[1], sent.with_columns(pl.Series(HASH, hashes, dtype=pl.Int64)))
        expected = run(one, contexts[2], rows_of(one, 0, whole, kinds, keys=grouping))
        assert _table(found) == _table(expected)


def _table(changes: pl.DataFrame) -> list[tuple[object, ...]]:
    names = [name for name in changes.columns if not name.startswith("rk_")]
    return sorted(changes.select(KIND, *names).rows(), key=repr)


def test_state_is_the_values_alone() -> None:
    first, _, _ = _operators(*_nodes(True, (0,)), 0)
    assert [each.name for each in first.states] == ["incrementalGroupAggregateValues0"]
    names = [column.name for column in first.states[0].columns]
    assert names == ["k0", "k1", "value", "COUNT_n_d$occurrences", "COUNT_n_d_f$occurrences"]


def test_what_is_no_part_of_a_split() -> None:
    node, _ = _nodes(False, (0,))
    with pytest.raises(PlanError, match=r"node 1 .*do not begin with its groups"):
        node.replaced(final_agg_grouping=(PART,)).check((SPLIT,))
    for each in (call("COUNT"), call("MIN", "n", distinct=True)):
        with pytest.raises(PlanError, match=r"node 1 .*no call needs to know its values"):
            node.replaced(partial_original_agg_calls=(each,)).check((SPLIT,))
    calls = (call("COUNT", "n", distinct=True), call("LISTAGG", "s"))
    with pytest.raises(PlanError, match=r"node 1 .*a call has no partial results"):
        node.replaced(partial_original_agg_calls=calls).check((SPLIT,))
    with pytest.raises(PlanError, match=r"node 1 .*its output must be the keys and"):
        node.replaced(output_type=row()).check((SPLIT,))
    assert node.uids() == ("1_incremental-group-aggregate",)
