"""Calls that Flink refuses where they stand, or for their constants."""

from __future__ import annotations

import pytest

from execnodes.core.errors import SqlError
from tests.planner.test_errors import run


@pytest.mark.parametrize(
    "text",
    ["1 / CAST(0.00 AS DOUBLE)", "1 / 0e0", "-5e0 / CAST('0' AS FLOAT)", "CASE WHEN v > 1 THEN 1e0 / -0e0 ELSE 0 END"],
)
def test_a_constant_divided_by_zero_is_refused(text: str) -> None:
    with pytest.raises(SqlError, match="division by zero"):
        run(f"SELECT {text} FROM t")


@pytest.mark.parametrize("text", ["v / 0e0", "CAST(NULL AS DOUBLE) / 0e0", "1e0 / 2", "v / 0", "1e0 / v"])
def test_other_quotients_are_taken(text: str) -> None:
    run(f"SELECT {text} FROM t")


@pytest.mark.parametrize(
    "text", ["JSON(k)", "UPPER(JSON(k))", "JSON_OBJECT('a' VALUE UPPER(JSON(k)))", "JSON_ARRAYAGG(JSON(k))"]
)
def test_json_stands_in_json_alone(text: str) -> None:
    with pytest.raises(SqlError, match=r"JSON\(\) may only be a value of JSON_OBJECT or JSON_ARRAY"):
        run(f"SELECT {text} FROM t")


@pytest.mark.parametrize("text", ["JSON_OBJECT('a' VALUE JSON(k))", "UPPER(JSON_ARRAY(JSON(k), 1))"])
def test_json_in_json_is_taken(text: str) -> None:
    run(f"SELECT {text} FROM t")
