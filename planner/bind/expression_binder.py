"""Syntax of an expression to a typed expression over the columns of a scope."""

from __future__ import annotations

from collections.abc import Callable
from typing import assert_never

from execnodes import aggregates
from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, FieldAccess, InputRef, Literal, reads_watermark, user_calls
from execnodes.core.types import BOOLEAN, STRING, LogicalType, Root
from execnodes.functions import can_fail, known, may_vary, resolve
from planner import syntax as s
from planner.bind.refused_calls import refuse_division_by_zero, refuse_json
from planner.bind.scope import Scope
from planner.bind.user_functions import bind_scalar, find_aggregate, find_function
from planner.bind.written import locate
from planner.catalog.catalogs import Catalog
from planner.limits import check_expression

Replace = Callable[[s.Expr], Expression | None]
"""Gives the expression of a part that was built before (an aggregate, an OVER, a subquery), else None."""

_COMPARISONS = ("=", "<>", "IN", "NOT IN")
_NESTED = 100
"""So many terms of AND and OR are nested, two and two, as plans have always had them; more stand side by side."""

WINDOW_ONLY = frozenset(
    ("ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "NTILE", "LAG", "LEAD", "NTH_VALUE")
)
"""Functions that exist only with OVER."""
GROUP_FUNCTIONS = frozenset(("GROUPING", "GROUPING_ID", "GROUP_ID"))
"""Functions that exist only beside GROUP BY."""

BARE = frozenset(("PI",))
"""Functions that may be written without parentheses where no column has their name."""

IN_LAMBDA = frozenset(("ARRAY_CONTAINS", "ARRAY_REMOVE"))
"""Functions that compute their last operand inside a loop over an array."""


def nothing(_: s.Expr) -> Expression | None:
    """Replaces no part."""
    return None


class Converter:
    """Converts expressions of one clause."""

    def __init__(self, scope: Scope, catalog: Catalog, replace: Replace = nothing, clause: str = "this place") -> None:
        """`clause` names the place in errors about what may not stand there."""
        self.scope = scope
        self.catalog = catalog
        self.replace = replace
        self.clause = clause
        self._inside = 0
        """Calls around the one that is being converted."""

    def convert(self, node: s.Expr) -> Expression:
        """The typed expression; SqlError with the place of what cannot be."""
        if not self._inside:
            refuse_json(node)
        self._inside += 1
        try:
            found = self._convert(node)
        finally:
            self._inside -= 1
        if not self._inside:
            check_expression(found, node.position)
        return found

    def _convert(self, node: s.Expr) -> Expression:
        replaced = self.replace(node)
        if replaced is not None:
            return replaced
        match node:
            case s.Name():
                bare = len(node.parts) == 1 and node.parts[0].upper() in BARE and not self.scope.finds(node)
                return resolve(node.parts[0].upper(), (), position=node.position) if bare else self.scope.resolve(node)
            case s.Constant():
                return node.literal
            case s.Call():
                return self._call(node)
            case s.Access():
                return self._access(node)
            case s.Star():
                raise SqlError("* may only stand in the SELECT list and in COUNT(*)", position=node.position)
            case s.ScalarQuery() | s.ExistsQuery() | s.InQuery() | s.QuantifiedQuery():
                raise SqlError(
                    f"a subquery in {self.clause} is not supported",
                    position=node.position,
                    hint="Write it as a join, or in WHERE, SELECT or HAVING.",
                )

    def column(self, column: InputRef, node: s.Name) -> Expression:
        """A column that * stands for."""
        return column

    def condition(self, node: s.Expr) -> Expression:
        """A BOOLEAN expression."""
        found = self.convert(node)
        if found.type.root is Root.NULL:
            return resolve("CAST", (found,), position=node.position, result=BOOLEAN)
        if found.type.root is not Root.BOOLEAN:
            raise SqlError(f"{self.clause} needs a BOOLEAN, not {found.type}", position=node.position)
        return found

    def _access(self, node: s.Access) -> Expression:
        return _field(self.convert(node.expr), node.name, node)

    def _item(self, row: Expression, key: Expression, node: s.Call) -> Expression:
        """A field of a ROW, by a constant name or number from 1."""
        value = key.value if isinstance(key, Literal) else None
        if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= len(row.type.fields):
            return _field(row, row.type.fields[value - 1].name, node)
        if not isinstance(value, str):
            names = ", ".join(f"'{field.name}'" for field in row.type.fields)
            hint = f"Write one of {names}, or a number from 1 to {len(row.type.fields)}."
            raise SqlError(f"a field of {row.type} requires a constant name", position=node.position, hint=hint)
        return _field(row, value, node)

    def _call(self, node: s.Call) -> Expression:
        self._check(node)
        if node.name in ("=", "IN", "NOT IN") and (rows := _written_rows(node)):
            return self._compared(node, *rows)
        return self._called(node)

    def _compared(self, node: s.Call, first: tuple[s.Expr, ...], *others: tuple[s.Expr, ...]) -> Expression:
        """ROWs that are written out are compared field by field, as in Flink: NULL where that of a field is."""
        found = []
        for row in others:
            pairs = (s.Call("=", pair, position=node.position) for pair in zip(first, row, strict=True))
            found.append(self._joined("AND", tuple(map(self._called, pairs)), node))
        member = self._joined("OR", tuple(found), node)
        return resolve("NOT", (member,), position=node.position) if node.name == "NOT IN" else member

    def _called(self, node: s.Call) -> Expression:
        found = find_function(self.catalog, node)
        if found is None and node.name.upper() == "CURRENT_DATABASE" and not node.args:
            return Literal(value=self.catalog.current_database, type=STRING.not_null())
        if found is None:
            literals = (each.literal.value for each in node.args if isinstance(each, s.Constant))
            known(node.name, node.position, [each for each in literals if isinstance(each, str)])
        for arg in node.args:
            refuse_json(arg, node.name.upper())
        operands = tuple(self.convert(arg) for arg in node.args)
        if found is not None:
            return self._placed(bind_scalar(found, operands, node), node)
        if node.name.upper() in IN_LAMBDA and any(True for each in operands[1:] for _ in user_calls(each)):
            raise SqlError(
                f"a function written in Python may not stand in the second operand of {node.name}",
                position=node.position,
                hint="Spark cannot call Python from inside its loops over arrays; do it in the function itself.",
            )
        if node.name == "ITEM" and operands[0].type.root is Root.ROW:
            return self._item(operands[0], operands[1], node)
        if node.name in ("AND", "OR"):
            return self._joined(node.name, operands, node)
        made = resolve(node.name.upper(), operands, position=node.position, result=node.result)
        refuse_division_by_zero(made, node)
        if not isinstance(made, Call):
            return made
        if node.name in _COMPARISONS and any(_has_nullable_fields(e.type) for e in operands):
            # The type asks for fields too, as in Flink; the value is never NULL for one.
            made = made.model_copy(update={"type": made.type.with_nullable(True)})
        varies = may_vary(made.internal_name)
        if can_fail(made) or (varies and reads_watermark(made)):
            return self._placed(made, node)
        return made.varying(locate(node)) if varies else made

    def _placed(self, made: Call, node: s.Call) -> Call:
        return made.put(locate(node))

    def _joined(self, name: str, operands: tuple[Expression, ...], node: s.Call) -> Expression:
        """What AND or OR joins."""
        if len(operands) < 3 or len(operands) > _NESTED:
            return operands[0] if len(operands) == 1 else resolve(name, operands, position=node.position)
        found = operands[0]
        for operand in operands[1:]:
            found = resolve(name, (found, operand), position=node.position)
        return found

    def _check(self, node: s.Call) -> None:
        name = node.name.upper()
        if node.over is not None or name in WINDOW_ONLY:
            hint = None if node.over else f"Write {name}() OVER (PARTITION BY … ORDER BY …)."
            raise SqlError(f"{node.name} OVER may not stand in {self.clause}", position=node.position, hint=hint)
        if aggregates.is_aggregate(name) or name in GROUP_FUNCTIONS:
            hint = "Aggregates stand in SELECT, HAVING, QUALIFY and ORDER BY of a query with FROM."
            raise SqlError(
                f"the aggregate function {node.name} may not stand in {self.clause}", position=node.position, hint=hint
            )
        clause = "DISTINCT" if node.distinct else "FILTER" if node.filter else "WITHIN GROUP" if node.order else None
        if clause or node.star:
            known(name, node.position)
            raise SqlError(f"{clause or '*'} in a call of {node.name}: it is no aggregate", position=node.position)


def _field(row: Expression, name: str, node: s.Expr) -> FieldAccess:
    field = next((f for f in row.type.fields if f.name == name), None)
    if field is None:
        raise SqlError(f"{row.type} has no field '{name}'", position=node.position)
    return FieldAccess(name=name, expr=row, type=field.type.with_nullable(field.type.nullable or row.type.nullable))


def _written_rows(node: s.Call) -> list[tuple[s.Expr, ...]]:
    """The fields of ROWs that are compared, if all of them are written out and of one size."""
    rows = [each.args for each in node.args if isinstance(each, s.Call) and each.name.upper() == "ROW" and each.args]
    return rows if len(rows) == len(node.args) > 1 and len({*map(len, rows)}) == 1 else []


def _has_nullable_fields(type: LogicalType) -> bool:
    return any(each.type.nullable or _has_nullable_fields(each.type) for each in type.fields)


def and_members(node: s.Expr | None) -> list[s.Expr]:
    """What AND joins, however deep; nothing of None."""
    if node is None:
        return []
    if isinstance(node, s.Call) and node.name == "AND":
        return [each for arg in node.args for each in and_members(arg)]
    return [node]


def all_of(conditions: list[Expression]) -> Expression | None:
    """The AND of conditions; None of none."""
    if not conditions:
        return None
    if len(conditions) > _NESTED:
        return resolve("AND", tuple(conditions))
    found = conditions[0]
    for condition in conditions[1:]:
        found = resolve("AND", (found, condition))
    return found


def children(node: s.Expr) -> tuple[s.Expr, ...]:
    """Direct parts of an expression, without queries in it."""
    match node:
        case s.Call():
            over = () if node.over is None else (*node.over.partition, *(item.expr for item in node.over.order))
            return (*node.args, *((node.filter,) if node.filter else ()), *over)
        case s.Access():
            return (node.expr,)
        case s.InQuery():
            return node.values
        case s.QuantifiedQuery():
            return (node.value,)
        case s.Name() | s.Star() | s.Constant() | s.ScalarQuery() | s.ExistsQuery():
            return ()
        case never:
            assert_never(never)


def walk(node: s.Expr) -> list[s.Expr]:
    """The expression and all its parts, parents first."""
    found, left = [], [node]
    while left:
        each = left.pop()
        found.append(each)
        left.extend(reversed(children(each)))
    return found


def is_aggregate(node: s.Expr, catalog: Catalog) -> bool:
    """True for the call of an aggregate without OVER."""
    if not isinstance(node, s.Call) or node.over is not None:
        return False
    known = aggregates.is_aggregate(node.name) or node.name.upper() in GROUP_FUNCTIONS
    return known or find_aggregate(catalog, node) is not None
