"""PERCENTILE against a naive model."""

from __future__ import annotations

import json
from math import ceil, floor
from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.aggregates import PERCENTAGE
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import BIGINT, DOUBLE, array
from execnodes.kernels.aggregates.accumulator import Source
from execnodes.kernels.aggregates.percentiles import Percentile
from tests.kernels.test_group_aggregate import NAMES, Row, call, changelogs, groups, operator, play


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


@pytest.mark.parametrize("retract", [False, True])
@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_frequencies(retract: bool, data: st.DataObject) -> None:
    """NULL and what is not positive counts for nothing; DISTINCT goes by the value with its frequency."""
    batches = data.draw(changelogs(retract))
    asked = data.draw(
        st.lists(st.tuples(st.sampled_from(["m", "n", None]), st.booleans(), st.booleans()), unique=True, max_size=5)
    )
    calls = [
        call("PERCENTILE", "n", *filter(None, [frequency]), distinct=distinct, filtered=filtered,
             options={PERCENTAGE: "0.3"})
        for frequency, distinct, filtered in asked
    ]  # fmt: skip
    found = play(operator([call("COUNT", "n", distinct=True), *calls], retract), batches)
    expected = {key: tuple(_expected(rows, *each) for each in asked) for key, rows in groups(batches).items()}
    assert {key: pytest.approx(results) for key, _, *results in found} == expected


def _expected(rows: list[Row], frequency: str | None, distinct: bool, filtered: bool) -> float | None:
    value, often, passes = NAMES.index("n"), NAMES.index(frequency or "n"), NAMES.index("f")
    chosen = [(row[value], row[often] if frequency else 1) for row in rows if not filtered or row[passes]]
    pairs: list[tuple[Any, Any]] = list(dict.fromkeys(chosen)) if distinct else chosen
    return percentile([number for number, often in pairs if number is not None for _ in range(often or 0)], 0.3)
