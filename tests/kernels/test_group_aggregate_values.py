"""What aggregates of few values come to: limits of types, rounding, too few rows."""

from __future__ import annotations

import pytest

from execnodes.aggregates import resolve
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import BIGINT, DOUBLE, INT, Field, LogicalType, decimal, row
from execnodes.stream.group_aggregate.v1_kernel import GroupAggregateOperator
from tests.kernels.fake_state import FakeContext, rows_of, run


def operator(function: str, t: LogicalType, *, retract: bool = False) -> GroupAggregateOperator:
    """One call, over the values of one group."""
    internal, result = resolve(function, (t,))
    return GroupAggregateOperator(
        uid="1_group-aggregate", input_type=row(Field("v", t)), output_type=row(Field("r", result)), grouping=(),
        calls=(AggregateCall(name="r", internal_name=internal, arg_list=(0,), type=result),), retract=retract,
        update_before=True, ttl_ms=0,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("function", "t", "values", "expected"),
    [
        ("SUM", INT, [2**31 - 1, 1], -(2**31)),
        ("AVG", INT, [2**31 - 1, 2**31 - 1], 2**31 - 1),
        ("AVG", INT, [-7, -8, 0, 1], -3),
        ("SUM", BIGINT, [2**63 - 1, 1], -(2**63)),
        ("SUM", decimal(38, 0), [10**38 - 1, 1], None),
        ("SUM", decimal(38, 0), [10**38 - 1, -1], 10**38 - 2),
        ("SUM", decimal(38, 0), [10**38 - 1] * 3, None),
        ("AVG", decimal(38, 0), [10**37], None),
        ("AVG", decimal(8, 2), [1, 1, 0], 6667),
        ("AVG", decimal(8, 2), [-1, -1, 0], -6667),
        ("VAR_POP", INT, [3, 5], 1),
        ("STDDEV_SAMP", INT, [3, 5], 1),
        ("VAR_SAMP", decimal(8, 2), [250, -125], 7031250),
        ("VAR_SAMP", INT, [3], None),
        ("VAR_POP", INT, [3], 0),
    ],
)
@pytest.mark.parametrize("batches", [1, 2])
def test_limits_and_rounding(
    function: str, t: LogicalType, values: list[int], expected: int | None, batches: int
) -> None:
    made = operator(function, t)
    context = FakeContext(made)
    cut = len(values) if batches == 1 else len(values) - 1
    if values[cut:] and len(values) > 2 and expected is None:
        pytest.skip("a sum that starts anew after an overflow is not NULL")
    results: list[object] = []
    for part in filter(None, (values[:cut], values[cut:])):
        results += run(made, context, rows_of(made, 0, [(value,) for value in part]))["r"].to_list()
    assert results[-1] == expected


@pytest.mark.parametrize(
    ("function", "batches", "expected"),
    [
        ("VAR_POP", [[(0, "NaN")]], "nan"),
        ("STDDEV_POP", [[(0, "NaN")], [(0, "1")], [(3, "1")]], "nan"),
        ("STDDEV_POP", [[(0, "1"), (0, "NaN")], [(3, "1")]], "nan"),
        ("VAR_SAMP", [[(0, "NaN")], [(0, "1")]], "nan"),
        ("VAR_POP", [[(0, "0.1"), (0, "0.7")], [(3, "0.1")]], "0.0"),
    ],
)
def test_a_nan_stays_where_rows_are_taken_back(
    function: str, batches: list[list[tuple[int, str]]], expected: str
) -> None:
    """A group of one NaN had a deviation of zero."""
    made = operator(function, DOUBLE, retract=True)
    context, results = FakeContext(made), list[object]()
    for batch in batches:
        rows = rows_of(made, 0, [(float(value),) for _, value in batch], [kind for kind, _ in batch])
        results += run(made, context, rows)["r"].to_list()
    assert str(results[-1]) == expected
