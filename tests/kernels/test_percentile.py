"""PERCENTILE against a naive model."""

from __future__ import annotations

import json
from math import ceil, floor

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.aggregates import PERCENTAGE
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import BIGINT, DOUBLE, array
from execnodes.kernels.aggregates.accumulator import Source
from execnodes.kernels.aggregates.percentiles import Percentile


def percentile(values: list[int], share: float) -> float | None:
    if not values:
        return None
    ordered, place = sorted(values), share * (len(values) - 1)
    low, high = floor(place), ceil(place)
    if ordered[low] == ordered[high]:
        return ordered[low]
    return (high - place) * ordered[low] + (place - low) * ordered[high]


@given(
    counts=st.dictionaries(st.integers(-50, 50), st.integers(1, 4), max_size=8),
    shares=st.lists(st.floats(0, 1), min_size=1, max_size=3),
)
def test_percentile(counts: dict[int, int], shares: list[float]) -> None:
    rows = pl.DataFrame({"v": list(counts), "n": list(counts.values())}, schema={"v": pl.Int64, "n": pl.Int64})
    values = [value for value, count in counts.items() for _ in range(count)]
    call = AggregateCall(name="p", internal_name="$PERCENTILE_ARRAY$1", type=array(DOUBLE),
                         options={PERCENTAGE: json.dumps(shares)})  # fmt: skip
    folds = Percentile(call, BIGINT, False).fold(Source((pl.col("v"),), None, pl.col("n")))
    found = rows.select(e.alias(name) for name, e in folds.items())["p$percentile"][0]
    expected = [percentile(values, share) for share in shares]
    if not values:
        assert found is None
    else:
        assert json.loads(found) == pytest.approx(expected)
    single = call.model_copy(update={"internal_name": "$PERCENTILE$1", "type": DOUBLE, "options": {PERCENTAGE: "0.5"}})
    folds = Percentile(single, BIGINT, False).fold(Source((pl.col("v"),), None, pl.col("n")))
    assert rows.select(e.alias(name) for name, e in folds.items())["p$percentile"][0] == percentile(values, 0.5)
