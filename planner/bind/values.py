"""VALUES: rows of constants, whose columns get types that all of their values have in common."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, Literal
from execnodes.core.types import LogicalType, Root
from execnodes.core.words import counted
from execnodes.functions import cast, common_type
from planner import syntax as s
from planner.algebra import Logical, SetKind, SetOperation, Values
from planner.bind.builder import Expected
from planner.bind.expression_binder import Converter
from planner.bind.folding import fold
from planner.bind.scope import Scope
from planner.bind.source import project, row_of, single_row
from planner.catalog.catalogs import Catalog


def build_values(node: s.Values, catalog: Catalog, expected: Expected) -> Logical:
    """Inline rows; those that are no constants are projected from a single row."""
    converter = Converter(Scope(()), catalog, clause="VALUES")
    width = len(node.rows[0])
    for written in node.rows:
        if len(written) != width:
            raise SqlError(
                f"a row of {counted(len(written), 'value')} beside one of {width}",
                position=written[0].position,
                hint="All rows of VALUES have the same number of values.",
            )
    rows = [[typed_null(converter.convert(v), v, i, expected) for i, v in enumerate(r)] for r in node.rows]
    types = [_column_type(node, i, [each[i].type for each in rows]) for i in range(width)]
    names = [f"EXPR${i}" for i in range(width)]
    folded = [[fold(_as(value, t)) for value, t in zip(each, types, strict=True)] for each in rows]
    type_ = row_of(names, types)
    if all(isinstance(value, Literal) for each in folded for value in each):
        return Values(tuple(tuple(each) for each in folded), type_)
    plans: list[Logical] = [
        project(single_row().logical, [_not_wider(value, t) for value, t in zip(each, types, strict=True)], names)
        for each in folded
    ]
    return plans[0] if len(plans) == 1 else SetOperation(SetKind.UNION, tuple(plans), True, type_)


def _not_wider(value: Expression, type_: LogicalType) -> Expression:
    """The value with the type of its column; a constant that was computed may have got one with NULLs."""
    known = isinstance(value, Literal) and value.value is not None and value.type.nullable and not type_.nullable
    return value.model_copy(update={"type": value.type.not_null()}) if known else value


def typed_null(value: Expression, node: s.Expr, index: int, expected: Expected) -> Expression:
    """The value, a bare NULL with the type an INSERT expects; SqlError for a NULL whose type nobody says."""
    if value.type.root is not Root.NULL:
        return value
    if expected is None or index >= len(expected):
        raise SqlError(
            "Illegal use of 'NULL': its type is not known", position=node.position, hint="Write CAST(NULL AS type)."
        )
    return Literal(value=None, type=expected[index].with_nullable(True).regular())


def _column_type(node: s.Values, index: int, types: list[LogicalType]) -> LogicalType:
    found = common_type(types)
    if found is None:
        raise SqlError(
            f"the values of column {index + 1} have no common type: {', '.join(dict.fromkeys(map(str, types)))}",
            position=node.rows[0][index].position,
            hint="CAST them to one type.",
        )
    return found


def _as(value: Expression, type_: LogicalType) -> Expression:
    return value if value.type.same_values(type_) else cast(value, type_, explicit=True)
