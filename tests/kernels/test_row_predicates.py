"""Expressions over the values of a row give what they give as Polars expressions."""

from __future__ import annotations

from operator import itemgetter
from random import Random
from typing import Any

import polars as pl
import pytest

from execnodes.core.errors import PlanError, SqlError
from execnodes.core.expressions import Call, Expression, InputRef, Literal
from execnodes.core.predicates import ARITHMETIC, COMPARISONS, LOGIC, TESTS, supported
from execnodes.core.types import BIGINT, BOOLEAN, DOUBLE, INT, STRING, LogicalType, Root, parse_type
from execnodes.functions import resolve
from execnodes.kernels import polars_predicates, row_predicates
from execnodes.state.kernel_types import kernel_dtype

DECIMAL, FLOAT, TINYINT = parse_type("DECIMAL(6, 2)"), parse_type("FLOAT"), parse_type("TINYINT")
TIMESTAMP, DATE, BYTES = parse_type("TIMESTAMP(3)"), parse_type("DATE"), parse_type("BYTES")
VALUES: dict[LogicalType, list[Any]] = {
    INT: [0, 1, -1, 7, 2**31 - 1, -(2**31)],
    TINYINT: [0, 3, -128, 127],
    BIGINT: [0, 5, 2**62, -(2**62)],
    DECIMAL: [0, 150, -99999, 999999],
    DOUBLE: [0.0, -0.5, 1e300, 3.25],
    FLOAT: [0.0, -0.5, 3.25, 2.0**100],
    STRING: ["", "a", "ab%", "A\nb", "é"],
    BOOLEAN: [True, False],
    TIMESTAMP: [0, 1_700_000_000_000_000, -1],
    DATE: [0, 20_000, -1],
    BYTES: [b"", b"a"],
}
TYPES = tuple(VALUES)


def reference(at: int) -> InputRef:
    return InputRef(input_index=at, type=TYPES[at])


def expressions() -> list[Expression]:
    """Calls of each function over columns of each pair of types that take it, and constants."""
    columns: list[Expression] = [reference(at) for at in range(len(TYPES))]
    constants: list[Expression] = [
        Literal(value=3, type=INT.not_null()), Literal(value="1.5", type=parse_type("DECIMAL(2, 1) NOT NULL")),
        Literal(value="ab", type=STRING.not_null()), Literal(value=None, type=INT),
        Literal(value="2023-11-14 22:13:20.000", type=TIMESTAMP),
        Literal(value=60_000, type=LogicalType(Root.INTERVAL_DAY_TIME)),
    ]  # fmt: skip
    found: list[Expression] = []
    for name in (*COMPARISONS, *ARITHMETIC, "AND", "OR"):
        found += [made for a in columns for b in (*columns, *constants) if (made := called(name, a, b)) is not None]
    for name in (*(each for each in LOGIC if each == "NOT"), *TESTS):
        found += [made for a in columns if (made := called(name, a)) is not None]
    found += [made for a in columns for t in TYPES if (made := called("CAST", a, result=t)) is not None]
    found += [made for a in columns for b in columns if (made := called("COALESCE", a, b)) is not None]
    for pattern in ("a%", "_b%", "%", "A_b"):
        found.append(resolve("LIKE", (reference(6), Literal(value=pattern, type=STRING.not_null()))))
    return [each for each in found if supported(each)]


def called(name: str, *operands: Expression, result: LogicalType | None = None) -> Expression | None:
    try:
        return resolve(name, operands, result=result)
    except SqlError:  # not of these types
        return None


ALL = expressions()
NAMES = [f"c{at}" for at in range(len(TYPES))]


def test_each_function_is_among_them() -> None:
    names = {each.internal_name.split("$")[1] for each in ALL if isinstance(each, Call)}
    assert names >= {*COMPARISONS, *ARITHMETIC, *LOGIC, *TESTS, "CAST", "COALESCE", "LIKE"}


@pytest.mark.parametrize("seed", range(3))
def test_both_give_the_same(seed: int) -> None:
    random = Random(seed)
    rows = [[random.choice([None, *each]) for each in VALUES.values()] for _ in range(200)]
    schema = {name: kernel_dtype(each) for name, each in zip(NAMES, TYPES, strict=True)}
    frame = pl.DataFrame(rows, schema=schema, orient="row")
    for expression in ALL:
        expected = frame.select(polars_predicates.compile(expression, NAMES).alias("found"))["found"].to_list()
        evaluate = row_predicates.compile(expression, [itemgetter(at) for at in range(len(TYPES))])
        found = [evaluate(row) for row in frame.rows()]
        differ = [
            (row, now, then) for row, now, then in zip(rows, found, expected, strict=True) if repr(now) != repr(then)
        ]
        assert not differ, (expression, differ[0])


def test_others_are_refused() -> None:
    with pytest.raises(PlanError, match="cannot be evaluated inside a stateful operator"):
        row_predicates.compile(resolve("UPPER", (reference(6),)), [itemgetter(at) for at in range(len(TYPES))])
