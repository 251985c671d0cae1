"""Values of results as JSON and as text."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.types import DOUBLE, FLOAT, decimal, parse_type, timestamp
from rekindle.results.json_values import Json, display, to_json

CASES: list[tuple[Any, str, Json]] = [
    (None, "INT", None),
    (7, "BIGINT", 7),
    (True, "BOOLEAN", True),
    ("é😀", "STRING", "é😀"),
    (Decimal("1.5"), "DECIMAL(10, 3)", "1.500"),
    (Decimal("0"), "DECIMAL(38, 18)", "0.000000000000000000"),
    (Decimal("1E+2"), "DECIMAL(5, 0)", "100"),
    (Decimal("-99999999999999999999999999999999.999999"), "DECIMAL(38, 6)", "-" + "9" * 32 + ".999999"),
    (0.1, "DOUBLE", 0.1),
    (math.nan, "DOUBLE", "NaN"),
    (-math.inf, "FLOAT", "-Infinity"),
    (0.10000000149011612, "FLOAT", 0.1),
    (16777216.0, "FLOAT", 16777216.0),
    (date(12, 1, 1), "DATE", "0012-01-01"),
    (0, "DATE", "1970-01-01"),
    (622_000_000, "DATE", "+1704948-02-28"),
    (45_296_789, "TIME(3)", "12:34:56.789"),
    (45_296_789, "TIME(0)", "12:34:56"),
    (datetime(2024, 2, 29, 1, 2, 3, 4005), "TIMESTAMP(3)", "2024-02-29 01:02:03.004"),
    (datetime(2024, 2, 29, 1, 2, 3, 4005), "TIMESTAMP(0)", "2024-02-29 01:02:03"),
    (datetime(2024, 2, 29, 1, 2, 3, 4005), "TIMESTAMP(9)", "2024-02-29 01:02:03.004005000"),
    (datetime(2024, 1, 1, 1, tzinfo=timezone(timedelta(hours=2))), "TIMESTAMP_LTZ(3)", "2023-12-31 23:00:00.000"),
    (datetime(2024, 1, 1, tzinfo=UTC), "TIMESTAMP_LTZ(3)", "2024-01-01 00:00:00.000"),
    (-1_000, "TIMESTAMP(3)", "1969-12-31 23:59:59.999"),
    (b"\x0a\xff", "BYTES", "x'0aff'"),
    ([1, None], "ARRAY<INT>", [1, None]),
    ([], "ARRAY<STRING>", []),
    ([("b", 1), ("a", None)], "MAP<STRING, INT>", {"a": None, "b": 1}),
    ({2: Decimal("1")}, "MAP<INT, DECIMAL(3, 1)>", {"2": "1.0"}),
    ([("x", 2)], "MULTISET<STRING>", {"x": 2}),
    ({"a": 1, "b": {"c": b"\x01"}}, "ROW<`a` INT, `b` ROW<`c` BYTES>>", [1, ["x'01'"]]),
    ((1, "x"), "ROW<`a` INT, `b` STRING>", [1, "x"]),
]  # fmt: skip


@pytest.mark.parametrize(("value", "type_text", "expected"), CASES, ids=[f"{c[1]}-{i}" for i, c in enumerate(CASES)])
def test_json(value: Any, type_text: str, expected: Json) -> None:
    assert to_json(value, parse_type(type_text)) == expected


@pytest.mark.parametrize(
    ("value", "type_text", "expected"),
    [
        (None, "INT", "<NULL>"),
        (True, "BOOLEAN", "TRUE"),
        ([1, None], "ARRAY<INT>", "[1, <NULL>]"),
        ([("a", True)], "MAP<STRING, BOOLEAN>", "{a=TRUE}"),
        ([("a", 2)], "MULTISET<STRING>", "{a=2}"),
        ({"a": 1, "b": "x"}, "ROW<`a` INT, `b` STRING>", "(1, x)"),
        (Decimal("2"), "DECIMAL(4, 2)", "2.00"),
    ],
)
def test_display(value: Any, type_text: str, expected: str) -> None:
    assert display(value, parse_type(type_text)) == expected


@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_single_precision_keeps_the_number(value: float) -> None:
    import struct

    written = to_json(value, FLOAT)
    assert isinstance(written, float)
    assert struct.pack("f", written) == struct.pack("f", value)
    assert len(repr(written)) <= len(repr(value))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_doubles_are_exact(value: float) -> None:
    assert to_json(value, DOUBLE) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, places=4, min_value=-(10**30), max_value=10**30))
def test_decimals_keep_every_digit(value: Decimal) -> None:
    written = to_json(value, decimal(38, 4))
    assert isinstance(written, str)
    assert Decimal(written) == value
    assert len(written.rpartition(".")[2]) == 4


@given(st.datetimes(), st.integers(min_value=1, max_value=6))
def test_timestamps_are_cut_not_rounded(value: datetime, precision: int) -> None:
    written = to_json(value, timestamp(precision))
    assert isinstance(written, str)
    assert value.isoformat(sep=" ", timespec="microseconds").startswith(written)
    assert len(written) == 20 + precision


@given(st.dates(), st.integers(min_value=1, max_value=1000))
def test_dates_repeat_every_400_years(value: date, eras: int) -> None:
    days = (value - date(1970, 1, 1)).days
    later = to_json(days + eras * 146_097, parse_type("DATE"))
    year = value.year + 400 * eras
    assert later == f"{year:04}{value.isoformat()[4:]}" if year <= 9999 else f"+{year}{value.isoformat()[4:]}"
