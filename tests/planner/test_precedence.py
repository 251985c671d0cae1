"""Which operators bind tighter: expressions without parentheses have the values that Flink gives."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from planner import syntax as s
from planner.parse import parse_expression

Value = bool | int | str | None
ANSWERS = Path(__file__).with_name("precedence.txt")
"""``expression => value``, a line each, as Flink 2.3 has answered ``SELECT expression``."""


def _like(text: Value, pattern: Value, escape: Value = None) -> bool:
    escaped = re.escape(str(pattern))
    if escape is not None:
        escaped = escaped.replace(re.escape(str(escape)) + "%", "\0")
    return re.fullmatch(escaped.replace("%", ".*").replace("\0", "%"), str(text)) is not None


OPERATORS: dict[str, Callable[..., Value]] = {
    "=": lambda a, b: a == b,
    "<>": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "AND": lambda *members: all(members),
    "OR": lambda *members: any(members),
    "IS DISTINCT FROM": lambda a, b: a != b,
    "NOT": lambda a: not a,
    "IN": lambda a, *members: a in members,
    "NOT IN": lambda a, *members: a not in members,
    "BETWEEN": lambda a, low, high: low <= a <= high,
    "IS NULL": lambda a: a is None,
    "IS TRUE": lambda a: a is True,
    "IS NOT TRUE": lambda a: a is not True,
    "IS FALSE": lambda a: a is False,
    "IS NOT FALSE": lambda a: a is not False,
    "CAST": lambda a: a,
    "LIKE": _like,
    "SIMILAR TO": _like,
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a // b,
    "%": lambda a, b: a % b,
    "||": lambda a, b: f"{a}{b}",
    "MINUS_PREFIX": lambda a: -a,
}


def evaluate(expr: s.Expr) -> Value:
    """The value of an expression of constants."""
    if isinstance(expr, s.Constant):
        value = expr.literal.value
        assert value is None or isinstance(value, bool | int | str)
        return value
    assert isinstance(expr, s.Call)
    return OPERATORS[expr.name](*map(evaluate, expr.args))


def test_values_without_parentheses_are_those_of_flink() -> None:
    for line in ANSWERS.read_text(encoding="utf-8").splitlines():
        text, _, expected = line.rpartition(" => ")
        assert str(evaluate(parse_expression(text))).lower() == expected, text


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a = b = ANY (SELECT c FROM t)", "a = (b = ANY (SELECT c FROM t))"),
        ("a = b IN (SELECT c FROM t)", "a = (b IN (SELECT c FROM t))"),
        ("a = b IS JSON", "(a = b) IS JSON"),
        ("a BETWEEN b = c AND d", "a BETWEEN (b = c) AND d"),
        ("a = NOT EXISTS (SELECT c FROM t) AND b", "(a = (NOT EXISTS (SELECT c FROM t))) AND b"),
    ],
)
def test_predicates_group_as_in_flink(text: str, same: str) -> None:
    assert parse_expression(text) == parse_expression(same)
