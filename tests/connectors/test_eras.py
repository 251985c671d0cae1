"""Dates and timestamps beyond those that Python has."""

from __future__ import annotations

from datetime import date, datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.types import DATE, LogicalType, array, timestamp
from rekindle.connectors.arrow import printed
from rekindle.connectors.eras import date_text, python_values, timestamp_text
from rekindle.results.json_values import to_json

DAYS = 2_932_897
"""From 1970-01-01 to 10000-01-01."""
MICROS = DAYS * 86_400_000_000


@pytest.mark.parametrize(
    ("days", "text"),
    [
        (DAYS - 1, "9999-12-31"),
        (DAYS, "+10000-01-01"),
        (622_191_233, "+1705471-09-27"),
        (-719_162, "0001-01-01"),
        (-719_163, "0000-12-31"),
        (-719_529, "-0001-12-31"),
    ],
)
def test_dates_of_any_year_have_a_text(days: int, text: str) -> None:
    assert date_text(days) == text
    assert to_json(days, DATE) == text
    assert printed(days, DATE) == text


@given(st.dates(), st.integers(0, 86_399_999_999))
def test_texts_are_those_of_python_where_it_has_them(day: date, micros: int) -> None:
    days = (day - date(1970, 1, 1)).days
    assert date_text(days) == day.isoformat()
    moment = datetime(day.year, day.month, day.day) + timedelta(microseconds=micros)
    assert timestamp_text(days * 86_400_000_000 + micros, 6) == moment.isoformat(sep=" ", timespec="microseconds")


@pytest.mark.parametrize(
    ("column", "values", "of", "text"),
    [
        (pa.array([0, DAYS, None], pa.int32()).cast(pa.date32()), [date(1970, 1, 1), DAYS, None], DATE, "+10000-01-01"),
        (
            pa.array([0, MICROS], pa.int64()).cast(pa.timestamp("us")),
            [datetime(1970, 1, 1), MICROS],
            timestamp(3),
            "+10000-01-01 00:00:00.000",
        ),
        (
            pa.array([[0], [DAYS]], pa.list_(pa.int32())).cast(pa.list_(pa.date32())),
            [[0], [DAYS]],
            array(DATE),
            ["+10000-01-01"],
        ),
    ],
)
def test_what_python_has_not_got_is_a_number(
    column: pa.Array, values: list[object], of: LogicalType, text: object
) -> None:
    assert python_values(column) == values
    assert to_json(values[1], of) == text
