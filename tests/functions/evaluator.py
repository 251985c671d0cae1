"""Short ways to write expressions, and their values on Spark in the notation of the oracle."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from execnodes.core.expressions import Expression, FieldAccess, InputRef, Literal
from execnodes.core.types import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    NULL,
    TIMESTAMPS,
    LogicalType,
    Root,
    char,
    decimal,
    parse_type,
)
from execnodes.functions import lower, resolve
from execnodes.functions.cast_texts import print_text
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import literal, spark_type, text_literal

PROGRAMS = Path(__file__).parents[1] / "conformance" / "programs"
Operand = Expression | int | str | float | bool | Decimal | None


class Columns:
    """Columns of a row by name."""

    def __init__(self, **types: str) -> None:
        self.types = {name: parse_type(t) for name, t in types.items()}

    def __getattr__(self, name: str) -> InputRef:
        return InputRef(input_index=list(self.types).index(name), type=self.types[name])


def constant(value: Operand) -> Expression:
    """A Python value as the literal the parser would make."""
    match value:
        case None:
            return Literal(value=None, type=NULL)
        case bool():
            return Literal(value=value, type=BOOLEAN.not_null())
        case int():
            return Literal(value=value, type=(INT if -(2**31) <= value < 2**31 else BIGINT).not_null())
        case float():
            return Literal(value=repr(value), type=DOUBLE.not_null())
        case Decimal():
            digits, exponent = len(value.as_tuple().digits), -int(value.as_tuple().exponent)
            return Literal(value=str(value), type=decimal(max(digits, exponent), exponent).not_null())
        case str():
            return Literal(value=value, type=char(len(value)).not_null())
        case _:
            return value


def typed(value: str | int | None, of: str) -> Expression:
    """A literal of a type by its text."""
    t = parse_type(of)
    return Literal(value=value, type=t if value is None else t.not_null())


def f(name: str, *operands: Operand, to: str | None = None) -> Expression:
    """A call; `to` is the type asked for."""
    return resolve(name, [constant(each) for each in operands], result=parse_type(to) if to else None)


def cast(operand: Operand, to: str) -> Expression:
    return f("CAST", operand, to=to)


def try_cast(operand: Operand, to: str) -> Expression:
    return f("TRY_CAST", operand, to=to)


def field(operand: Expression, name: str) -> Expression:
    found = next(each for each in operand.type.fields if each.name == name)
    return FieldAccess(name=name, expr=operand, type=found.type.with_nullable(True))


class Evaluator:
    """Runs expressions over rows given as constants in JSON form."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark

    def __call__(
        self,
        expressions: Sequence[Expression],
        rows: Sequence[Mapping[str, Any]] = ({},),
        columns: Columns | None = None,
        zone: str = "UTC",
    ) -> list[list[Any]]:
        """Values of `expressions` for each row."""
        columns = columns or Columns()
        names = list(columns.types)
        cells = [[_cell(row.get(name), columns.types[name]) for name in names] for row in rows]
        source = ", ".join(f"({', '.join([str(i), *row])})" for i, row in enumerate(cells))
        texts = [_shown(each, names, zone) for each in expressions]
        head = ", ".join(["rk_row", *names])
        # the checkpoint keeps the optimizer from folding everything
        data = self.spark.sql(f"SELECT * FROM VALUES {source} AS t({head})")
        frame = data.localCheckpoint().selectExpr("rk_row", *[f"{t} AS c{i}" for i, t in enumerate(texts)])
        return [[_plain(v) for v in row[1:]] for row in sorted(frame.collect(), key=lambda r: int(r[0]))]

    def one(self, expression: Expression, zone: str = "UTC") -> Any:
        """The value of an expression over no columns."""
        return self([expression], zone=zone)[0][0]


def _cell(value: Any, t: LogicalType) -> str:
    if value is None or t.root not in (Root.ARRAY, Root.MAP, Root.ROW):
        return literal(repr(value) if isinstance(value, float) else value, t)
    return f"from_json({text_literal(json.dumps(value))}, '{spark_type(t)}')"


_PRINTED = (Root.DECIMAL, Root.DATE, Root.TIME, *TIMESTAMPS)


def _shown(expression: Expression, names: Sequence[str], zone: str) -> str:
    text = lower(expression, names, zone)
    if expression.type.root in (Root.BINARY, Root.VARBINARY):
        return f"lower(hex({text}))"
    if expression.type.root not in _PRINTED:
        return f"CAST({text} AS {spark_type(expression.type)})"
    return print_text(Scope((), "UTC", lambda name: _none), f"({text})", expression.type)


def _none(scope: Scope, call: object) -> str:
    raise AssertionError


def _plain(value: Any) -> Any:
    if isinstance(value, float):
        return str(value) if value != value or value in (float("inf"), float("-inf")) else value
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, tuple | list):
        return [_plain(each) for each in value]
    return {str(k): _plain(v) for k, v in value.items()} if isinstance(value, dict) else value


def program(area: str, name: str) -> tuple[list[dict[str, Any]], list[list[Any]]]:
    """Rows of the only input file and expected rows, both by the first column."""
    folder = PROGRAMS / area / name
    (file,) = (folder / "input").glob("*.jsonl")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line]
    expected = [json.loads(line) for line in (folder / "expected.jsonl").read_text("utf-8").splitlines()]
    return sorted(rows, key=lambda r: int(r["id"])), sorted(expected, key=lambda r: int(r[0]))
