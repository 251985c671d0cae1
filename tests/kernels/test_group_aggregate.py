"""Group aggregates against a naive model: whatever the cuts, the materialised changes are the model's groups."""

from __future__ import annotations

import json
import math
import pickle
import statistics
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.aggregates import accumulator_columns, resolve
from execnodes.core.changelog import RowKind
from execnodes.core.errors import JobError, PlanError
from execnodes.core.expressions import AggregateCall, Value
from execnodes.core.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, Field, decimal, row
from execnodes.lowering.stream import KIND, SEQUENCE
from execnodes.stream.group_aggregate import GroupAggregate
from execnodes.stream.group_aggregate.v1_kernel import GroupAggregateOperator
from tests.kernels.fake_state import FakeContext, rows_of, run

INPUT = row(
    Field("k", STRING), Field("n", INT), Field("s", STRING), Field("d", decimal(8, 2)), Field("w", DOUBLE),
    Field("f", BOOLEAN), Field("big", decimal(38, 2)), Field("m", BIGINT.not_null()),
)  # fmt: skip
NAMES = [field.name for field in INPUT.fields]
Row = tuple[object, ...]


def call(
    function: str, *args: str, distinct: bool = False, filtered: bool = False, options: dict[str, Value] | None = None
) -> AggregateCall:
    """A call named after itself."""
    indexes = tuple(NAMES.index(arg) for arg in args)
    types = tuple(INPUT.fields[index].type for index in indexes)
    internal, result = resolve(function, types, distinct=distinct, filtered=filtered)
    name = "_".join((function, *args, *(["d"] if distinct else []), *(["f"] if filtered else [])))
    return AggregateCall(
        name=name, internal_name=internal, arg_list=indexes, filter_arg=5 if filtered else -1, distinct=distinct,
        type=result, options=options or {},
    )  # fmt: skip


def operator(
    calls: Sequence[AggregateCall], retract: bool = False, grouping: tuple[int, ...] = (0,), update_before: bool = True,
    ttl_ms: int = 0,
) -> GroupAggregateOperator:  # fmt: skip
    keys = tuple(INPUT.fields[index] for index in grouping)
    output = row(*keys, *(Field(each.name, each.type) for each in calls))
    made = GroupAggregateOperator(
        uid="1_group-aggregate", input_type=INPUT, output_type=output, grouping=grouping, calls=tuple(calls),
        retract=retract, update_before=update_before, ttl_ms=ttl_ms,
    )  # fmt: skip
    again = pickle.loads(pickle.dumps(made))
    assert isinstance(again, GroupAggregateOperator)
    return again


def present(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not None]


def _average(values: list[int]) -> int:
    return int(math.copysign(abs(sum(values)) // len(values), sum(values)))


def _decimal_average(values: list[int]) -> int:
    exact = Decimal(sum(values)) * 10**4 / len(values)
    return int(exact.quantize(Decimal(1), ROUND_HALF_UP))


def _or_null(function: Callable[[list[Any]], object], least: int = 1) -> Callable[[list[object]], object]:
    return lambda values: function(present(values)) if len(present(values)) >= least else None


def _multiset(values: list[object]) -> str:
    counts = sorted(Counter(map(str, present(values))).items(), key=lambda each: each[0].encode())
    return json.dumps([{"k": k, "v": v} for k, v in counts], ensure_ascii=False, separators=(",", ":"))


def _array(values: list[object]) -> str | None:
    return json.dumps(values, separators=(",", ":")) if values else None


NUMBER_MODELS = [
    ("COUNT", "n", lambda values: len(present(values))),
    ("SUM", "n", _or_null(sum)),
    ("SUM", "d", _or_null(sum)),
    ("SUM", "big", _or_null(sum)),
    ("SUM", "m", _or_null(sum)),
    ("$SUM0", "n", lambda values: sum(present(values))),
    ("AVG", "n", _or_null(_average)),
    ("AVG", "d", _or_null(_decimal_average)),
    ("MIN", "n", _or_null(min)),
    ("MAX", "d", _or_null(max)),
    ("MIN", "s", _or_null(lambda values: min(values, key=str.encode))),
    ("MAX", "s", _or_null(lambda values: max(values, key=str.encode))),
    ("MAX", "f", _or_null(max)),
    ("COLLECT", "s", _multiset),
]
ORDER_MODELS = [
    ("FIRST_VALUE", "n", _or_null(lambda values: values[0])),
    ("LAST_VALUE", "s", _or_null(lambda values: values[-1])),
    ("LISTAGG", "s", _or_null(",".join)),
    ("ARRAY_AGG", "n", _array),
    ("JSON_ARRAYAGG", "s", lambda values: "[" + ",".join(present(values)) + "]"),
]
FLOAT_MODELS = [
    ("SUM", "w", _or_null(math.fsum)),
    ("AVG", "w", _or_null(statistics.fmean)),
    ("VAR_POP", "w", _or_null(statistics.pvariance)),
    ("STDDEV_SAMP", "w", _or_null(statistics.stdev, 2)),
    ("VAR_SAMP", "w", _or_null(statistics.variance, 2)),
    ("STDDEV_POP", "w", _or_null(statistics.pstdev)),
]
texts = st.sampled_from(["", "a", "b", "é", "~", "😀"])
table_rows = st.tuples(
    st.sampled_from(["x", "y", "z", None]),
    st.none() | st.integers(-9, 9),
    st.none() | texts,
    st.none() | st.integers(-999, 999),
    st.none() | st.integers(-40, 40).map(lambda v: v / 4),
    st.none() | st.booleans(),
    st.none() | st.integers(-(10**30), 10**30),
    st.integers(-5, 5),
)


@st.composite
def changelogs(draw: st.DrawFn, retract: bool) -> list[list[tuple[int, Row]]]:
    """Batches of (kind, row); retractions are of rows that are there, the earliest first."""
    table: list[Row] = []
    batches: list[list[tuple[int, Row]]] = []
    for _ in range(draw(st.integers(1, 4))):
        batch: list[tuple[int, Row]] = []
        for _ in range(draw(st.integers(0, 6))):
            if retract and table and draw(st.booleans()):
                gone = draw(st.sampled_from(table))
                table.remove(gone)
                batch.append((draw(st.sampled_from([1, 3])), gone))
            else:
                new = draw(table_rows)
                table.append(new)
                batch.append((draw(st.sampled_from([0, 2])) if retract else 0, new))
        batches.append(batch)
    return batches


def play(
    made: GroupAggregateOperator, batches: list[list[tuple[int, Row]]], keys: Sequence[int] = (0,)
) -> Counter[Row]:
    """Run the batches and materialise the changes; every change must apply."""
    context, table, sequence = FakeContext(made), Counter[Row](), 0
    for batch in batches:
        frame = rows_of(made, 0, [r for _, r in batch], [kind for kind, _ in batch], None, sequence, keys)
        sequence += len(batch)
        out = run(made, context, frame)
        for *values, kind in out.drop(SEQUENCE).iter_rows():
            if kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE):
                assert table[tuple(values)] > 0, f"{values} is taken away, but is not there"
                table[tuple(values)] -= 1
            else:
                table[tuple(values)] += 1
    return +table


def groups(batches: list[list[tuple[int, Row]]]) -> dict[object, list[Row]]:
    """Rows of each group now; a retraction takes the earliest equal row."""
    found: dict[object, list[Row]] = {}
    for kind, each in (change for batch in batches for change in batch):
        rows = found.setdefault(each[0], [])
        if kind in (RowKind.UPDATE_BEFORE, RowKind.DELETE):
            rows.remove(each)
        else:
            rows.append(each)
    return {k: rows for k, rows in found.items() if rows}


def values_of(rows: list[Row], each: AggregateCall) -> list[object]:
    index = each.arg_list[0]
    chosen = [r[index] for r in rows if each.filter_arg < 0 or r[each.filter_arg] is True]
    return list(dict.fromkeys(chosen)) if each.distinct else chosen


@pytest.mark.parametrize("retract", [False, True])
@given(data=st.data())
@settings(max_examples=50, deadline=None)
def test_exact_functions(retract: bool, data: st.DataObject) -> None:
    models = data.draw(st.lists(st.sampled_from(NUMBER_MODELS + ([] if retract else ORDER_MODELS)), max_size=5))
    flags = [data.draw(st.tuples(st.booleans(), st.booleans())) for _ in models]
    chosen = {}
    for (function, arg, model), (distinct, filtered) in zip(models, flags, strict=True):
        distinct = distinct and not function.startswith("JSON")
        made = call(function, arg, distinct=distinct, filtered=filtered)
        chosen[made.name] = (made, model)
    batches = data.draw(changelogs(retract))
    calls = [made for made, _ in chosen.values()]
    table = play(operator(calls, retract), batches)
    expected: Counter[Row] = Counter()
    for key, rows in groups(batches).items():
        expected[(key, *(model(values_of(rows, made)) for made, model in chosen.values()))] += 1
    assert table == expected


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_functions_by_arrival_take_away_the_earliest_equal_value(data: st.DataObject) -> None:
    batches = data.draw(changelogs(True))
    filtered = data.draw(st.booleans())
    chosen = [(call(function, arg, filtered=filtered), model) for function, arg, model in ORDER_MODELS]
    table = play(operator([made for made, _ in chosen], True), batches)
    queues: dict[tuple[object, str], list[object]] = {}
    counts: Counter[object] = Counter()
    for kind, each in (change for batch in batches for change in batch):
        counts[each[0]] += -1 if kind in (1, 3) else 1
        for made, _ in chosen:
            if made.filter_arg >= 0 and each[made.filter_arg] is not True:
                continue
            queue, value = queues.setdefault((each[0], made.name), []), each[made.arg_list[0]]
            if kind in (1, 3):
                queue.remove(value)
            else:
                queue.append(value)
    expected = Counter(
        (key, *(model(queues.get((key, made.name), [])) for made, model in chosen))
        for key, count in counts.items()
        if count
    )
    assert table == expected


@pytest.mark.parametrize("retract", [False, True])
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_floating_functions(retract: bool, data: st.DataObject) -> None:
    batches = data.draw(changelogs(retract))
    calls = [call(function, arg, filtered=data.draw(st.booleans())) for function, arg, _ in FLOAT_MODELS]
    unique = {each.name: (each, model) for each, (_, _, model) in zip(calls, FLOAT_MODELS, strict=True)}
    table = play(operator([each for each, _ in unique.values()], retract), batches)
    found = {key: results for key, *results in table}
    expected = groups(batches)
    assert found.keys() == expected.keys()
    for key, rows in expected.items():
        for (made, model), value in zip(unique.values(), found[key], strict=True):
            wanted = model(values_of(rows, made))
            assert value == (None if wanted is None else pytest.approx(wanted, abs=1e-6))


def changes_of(
    made: GroupAggregateOperator, context: FakeContext, rows: Sequence[Row], kinds: Sequence[int]
) -> list[Row]:
    frame = rows_of(made, 0, rows, kinds, None, 0, (0,))
    return [(RowKind(kind).short, *values) for *values, kind in run(made, context, frame).drop(SEQUENCE).iter_rows()]


def _row(k: str | None, n: int | None = None, s: str | None = None) -> Row:
    return (k, n, s, None, None, None, None, 0)


def test_messages() -> None:
    made = operator([call("SUM", "n")], retract=True)
    context = FakeContext(made)
    assert changes_of(made, context, [_row("a", 1)], [0]) == [("+I", "a", 1)]
    assert changes_of(made, context, [_row("a", 2)], [0]) == [("-U", "a", 1), ("+U", "a", 3)]
    assert changes_of(made, context, [_row("a", 0)], [0]) == []
    assert changes_of(made, context, [_row("a", 2), _row("b", 5), _row("b", 5)], [3, 0, 3]) == [
        ("-U", "a", 3),
        ("+U", "a", 1),
    ]
    assert changes_of(made, context, [_row("a", 1), _row("a", 0)], [1, 3]) == [("-D", "a", 1)]
    assert context.state("groupAggregateState").frame.is_empty()


def test_without_update_before() -> None:
    made = operator([call("SUM", "n")], update_before=False)
    context = FakeContext(made)
    changes_of(made, context, [_row(None, 1)], [0])
    assert changes_of(made, context, [_row(None, 2)], [0]) == [("+U", None, 3)]


def test_with_a_ttl_an_update_comes_even_when_nothing_changed() -> None:
    made = operator([call("MAX", "n")], ttl_ms=1000)
    context = FakeContext(made)
    changes_of(made, context, [_row("a", 3)], [0])
    assert changes_of(made, context, [_row("a", 1)], [0]) == [("-U", "a", 3), ("+U", "a", 3)]
    assert made.states[0].ttl_ms == 1000


def test_global_aggregate_over_nothing_gives_nothing() -> None:
    made = operator([call("COUNT")], grouping=())
    context = FakeContext(made)
    assert run(made, context, rows_of(made, 0, [])).is_empty()
    assert run(made, context, rows_of(made, 0, [_row("a"), _row("b")])).select("COUNT", KIND).rows() == [(2, 0)]
    assert run(made, context, rows_of(made, 0, [_row("c")])).select("COUNT", KIND).rows() == [(2, 1), (3, 2)]


def test_select_distinct_is_insert_only() -> None:
    made = operator([], grouping=(0, 1))
    context = FakeContext(made)
    for expected in ([(None, 1, 0)], []):
        out = run(made, context, rows_of(made, 0, [_row(None, 1), _row(None, 1)]))
        assert out.select("k", "n", KIND).rows() == expected


def test_json_object_sorts_keys_and_keeps_the_last_value() -> None:
    made = operator([call("JSON_OBJECTAGG", "s", "k"), call("JSON_OBJECTAGG_ABSENT_ON_NULL", "s", "k")], grouping=(1,))
    rows = [("1", 7, "d"), ("2", 7, "b"), ("3", 7, "d"), (None, 7, 'é"')]
    out = run(made, FakeContext(made), rows_of(made, 0, [(*each, None, None, None, None, 0) for each in rows]))
    assert out.row(0)[1:3] == ('{"b":2,"d":3,"é\\"":null}', '{"b":2,"d":3}')


@pytest.mark.parametrize("retract", [False, True])
def test_single_value_has_one_row_and_refuses_a_second(retract: bool) -> None:
    made = operator([call("SINGLE_VALUE", "s")], retract=retract)
    context = FakeContext(made)
    first = changes_of(made, context, [_row("a", s="x"), _row("b", s=None)], [0, 0])
    assert set(first) == {("+I", "a", "x"), ("+I", "b", None)}
    if retract:
        assert changes_of(made, context, [_row("a", s="y"), _row("a", s="x")], [0, 3])[-1] == ("+U", "a", "y")
    with pytest.raises(JobError, match="has more than one row") as raised:
        changes_of(made, context, [_row("b", s=None)], [0])
    assert "LIMIT 1" in str(raised.value.hint)


def test_listagg_separator_and_distinct_over_retractions() -> None:
    calls = [call("LISTAGG", "s", options={"separator": " / "}), call("LISTAGG", "s", distinct=True)]
    made = operator(calls, retract=True)
    context = FakeContext(made)
    rows = [_row("a", s=s) for s in ("x", "y", "x", None)]
    assert changes_of(made, context, rows, [0, 0, 0, 0]) == [("+I", "a", "x / y / x", "x,y")]
    out = changes_of(made, context, [_row("a", s="x")], [3])
    assert out == [("-U", "a", "x / y / x", "x,y"), ("+U", "a", "y / x", "x,y")]
    assert changes_of(made, context, [_row("a", s="x")], [3])[-1] == ("+U", "a", "y", "y")


def test_values_by_arrival_come_behind_those_of_earlier_batches() -> None:
    made = operator([call("LISTAGG", "s"), call("FIRST_VALUE", "s"), call("LAST_VALUE", "s")])
    context = FakeContext(made)
    assert changes_of(made, context, [_row("a", s="x"), _row("a", s="y")], [0, 0]) == [("+I", "a", "x,y", "x", "y")]
    assert changes_of(made, context, [_row("a", s="z")], [0])[-1] == ("+U", "a", "x,y,z", "x", "z")


def test_distinct_calls_over_one_column_share_their_state() -> None:
    calls = [
        call("COUNT", "n", distinct=True),
        call("SUM", "n", distinct=True, filtered=True),
        call("COUNT", "s", distinct=True),
    ]
    names = {spec.name: [column.name for column in spec.columns] for spec in operator(calls).states}
    assert list(names) == ["groupAggregateState", "groupAggregateValues0", "groupAggregateValues2"]
    assert names["groupAggregateValues0"] == ["k0", "value", "COUNT_n_d$occurrences", "SUM_n_d_f$occurrences"]


def test_the_state_is_what_the_plan_names() -> None:
    calls = [call("SUM", "n"), call("AVG", "d")]
    made = operator(calls, retract=True)
    expected = [(field.name, field.type) for field in accumulator_columns(calls, INPUT, True)]
    assert [(column.name, column.type) for column in made.states[0].columns[1:]] == expected


def test_node_refuses_what_does_not_fit() -> None:
    node = GroupAggregate(
        id=3, description="", output_type=row(Field("k", STRING), Field("c", BIGINT)), grouping=(9,),
        agg_calls=(call("COUNT"),), generate_update_before=True, need_retraction=False,
    )  # fmt: skip
    with pytest.raises(PlanError, match=r"node 3 .*key column 9 is not among the 8 input columns"):
        node.check((INPUT,))
    assert node.uids() == ("3_group-aggregate",)
    node.replaced(grouping=(0,)).check((INPUT,))


def test_frames_without_news_keep_their_types() -> None:
    made = operator([call("COUNT", "s"), call("LISTAGG", "s")])
    out = made.process([rows_of(made, 0, [])], FakeContext(made))
    assert out is None
    assert isinstance(made.states[0].schema["COUNT_s$count"], pl.Int64)
