"""Constants: what is a value of its type is written so that it comes back; what is none is refused."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from execnodes.core.constants import constant
from execnodes.core.expressions import Literal
from execnodes.core.types import LogicalType, parse_type
from execnodes.lowering.spark_sql import literal

TYPES = [
    *("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10, 2)", "DECIMAL(38, 0)", "DATE"),
    *("TIME(0)", "TIME(9)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP_LTZ(3)", "BINARY(3)", "BYTES", "CHAR(5)"),
    *("VARCHAR(8)", "STRING", "INTERVAL SECOND", "INTERVAL MONTH", "NULL", "ARRAY<INT>", "ROW<`a'` INT>"),
]
HOSTILE = [
    *(
        "1' + reflect('java.lang.System', 'exit', '1') + '",
        "2020-01-01' OR '1'='1",
        "00') OR (X'00",
        "UTC'--",
        "'",
        "\\",
    ),
    *(
        "\\'",
        "${env:HOME}",
        "${spark.app.name}",
        "$",
        "/*",
        "*/",
        "-- x",
        "\n",
        "\0",
        "\0" + "12",
        "`",
        "١",
        "1_0",
        " 1",
    ),
    *(" 1", "1D", "0x10", "1e99999", "nan()", "12:00:00+02:00", "2020-01-01T00:00:00", "2020-02-30", "24:00:00", "-0"),
    *("1e5", "9" * 5000, "\ud800", "ẞ", "\u2028", "Infinity", "-inf", "NaN", "00ff", "ABC", "2020-01-01"),
    *("12:34:56.789", "2020-01-01 00:00:00", "2020-01-01 00:00:00.123Z", ".5", "5.", "+5", ""),
]
_TEXT = r"'(?:[^'\\$\n\r\0]|\\[\\'nrt]|\\u[0-9a-f]{4})*'"
_TYPE = r"[A-Z_]+(?:\(\d+, \d+\))?|ARRAY<INT>|STRUCT<`a'`: INT>"
_REFUSAL = r"is not a|out of the range|has more|longer|no constants"
ONE_CONSTANT = re.compile(
    rf"{_TEXT}|TRUE|FALSE|\d+[YSL]?|\(-\d+[YSL]?\)|X'[0-9a-f]*'|DATE '[\d-]+'|TIMESTAMP(?:_NTZ)? '[\d: .-]+Z?'"
    rf"|CAST\((?:NULL|'[-+.0-9Ea-zA-Z]+') AS (?:{_TYPE})\)"
)
"""What Spark reads as one constant, whatever stands around it."""
values: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(HOSTILE),
    st.text(max_size=12),
    st.text(alphabet="0123456789:.-+eE TZ'\\$()", max_size=24),
    st.integers(),
    st.booleans(),
    st.none(),
)


def _check(value: Any, type: LogicalType) -> None:
    try:
        constant(value, type)
    except ValueError:
        with pytest.raises(ValueError, match=_REFUSAL):
            literal(value, type)
        with pytest.raises(ValueError, match=_REFUSAL):
            Literal(value=value, type=type)
        return
    assert ONE_CONSTANT.fullmatch(literal(value, type)), literal(value, type)


@given(values, st.sampled_from(TYPES))
def test_a_literal_is_one_constant_or_refused(value: Any, type: str) -> None:
    _check(value, parse_type(type))


def test_hostile_texts_of_every_type() -> None:
    for type in TYPES:
        for value in HOSTILE:
            _check(value, parse_type(type))


REFUSED: dict[str, list[Any]] = {
    "INT": [2**31, "1", True, 1.5],
    "TINYINT": [128, -129],
    "BOOLEAN": [1, "TRUE"],
    "DOUBLE": [1, "1' || 'x", "0x1p3", "1_0", "1e400", "٣", "9" * 5000],
    "DECIMAL(4, 2)": ["100", "1.001", "1'", "1e2", 5, "NaN"],
    "DATE": ["2020-13-01", "2020-1-1", "20200101", "2020-01-01 ", "0000-01-01"],
    "TIME(3)": ["24:00:00", "1:00:00", "12:00:00.1234", "12:00:00+02:00"],
    "TIMESTAMP(3)": ["2020-01-01", "2020-01-01 00:00:00.1234", "2020-01-01 00:00:00+02:00", "2020-01-01T00:00:00"],
    "TIMESTAMP_LTZ(3)": ["2020-01-01 00:00:00 UTC", "2020-01-01 00:00:00ZZ"],
    "BYTES": ["0", "0g", "00 ", 5],
    "BINARY(1)": ["0000"],
    "VARCHAR(2)": ["abc", "\ud800", 1],
    "INTERVAL MONTH": [2**31, "1"],
    "INTERVAL SECOND": [2**63, "1"],
    "ARRAY<INT>": [1, "[]"],
}


@pytest.mark.parametrize("type", REFUSED)
def test_what_is_no_value_of_a_type_is_refused(type: str) -> None:
    for value in REFUSED[type]:
        with pytest.raises(ValueError, match=_REFUSAL):
            constant(value, parse_type(type))


WRITTEN: dict[tuple[Any, str], str] = {
    ("1.50", "DECIMAL(10, 2)"): "CAST('1.50' AS DECIMAL(10, 2))",
    ("1E+3", "DECIMAL(10, 2)"): "CAST('1000' AS DECIMAL(10, 2))",
    ("1.5e-7", "DOUBLE"): "CAST('1.5E-7' AS DOUBLE)",
    ("inf", "DOUBLE"): "CAST('inf' AS DOUBLE)",
    ("2020-02-29", "DATE"): "DATE '2020-02-29'",
    ("00:00:01.5", "TIME(1)"): "1500",
    ("2020-01-01 00:00:00.120", "TIMESTAMP(3)"): "TIMESTAMP_NTZ '2020-01-01 00:00:00.120000'",
    ("2020-01-01 00:00:00Z", "TIMESTAMP_LTZ(3)"): "TIMESTAMP '2020-01-01 00:00:00Z'",
    ("C0FFEE", "BYTES"): "X'c0ffee'",
    ("\0" + "12$", "STRING"): "'\\u000012\\u0024'",
    (-5, "BIGINT"): "(-5L)",
}


def test_how_values_are_written() -> None:
    assert {key: literal(key[0], parse_type(key[1])) for key in WRITTEN} == WRITTEN
