"""ORDER BY, OFFSET and LIMIT."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import InputRef
from execnodes.core.types import NESTED
from planner import syntax as s
from planner.algebra import Logical, Project, Sort, SortKey
from planner.bind.expression_binder import Converter
from planner.bind.source import named, project, refs
from planner.bind.written import locate
from planner.catalog.catalogs import Catalog


def sort_key(item: s.OrderItem, column: InputRef) -> SortKey:
    """The key of a column; NULL is the lowest value unless NULLS FIRST or LAST says where it goes."""
    if column.type.root in NESTED:
        raise SqlError(
            f"rows cannot be ordered by a {column.type}",
            position=item.position,
            hint="Order by a text of it, e.g. CAST(m AS STRING), or by what is in it.",
        )
    nulls_last = not item.ascending if item.nulls_last is None else item.nulls_last
    return SortKey(column.input_index, item.ascending, nulls_last)


def ordinal(item: s.OrderItem, width: int) -> int | None:
    """Column of ``ORDER BY 2``; None if the item is no number."""
    expr = item.expr
    if not isinstance(expr, s.Constant) or not isinstance(expr.literal.value, int):
        return None
    if not 1 <= expr.literal.value <= width:
        raise SqlError(f"ORDER BY {expr.literal.value}: there are {width} columns", position=item.position)
    return expr.literal.value - 1


def sort_output(plan: Logical, order: tuple[s.OrderItem, ...], catalog: Catalog) -> Logical:
    """ORDER BY of a set operation or VALUES: over the output columns."""
    converter = Converter(named(plan, None).scope, catalog, clause="ORDER BY")
    columns, extra = refs(plan.type), []
    keys = []
    for item in order:
        index = ordinal(item, len(plan.type.fields))
        expression = columns[index] if index is not None else converter.convert(item.expr)
        if not isinstance(expression, InputRef):
            extra.append(expression)
            expression = InputRef(input_index=len(columns) + len(extra) - 1, type=expression.type)
        keys.append(sort_key(item, expression))
    if not extra:
        return Sort(plan, tuple(keys), position=order[0].position, place=locate(order[0].expr))
    names = [field.name for field in plan.type.fields]
    wide = project(plan, [*columns, *extra], names + [f"EXPR${len(names) + i}" for i in range(len(extra))])
    return project(Sort(wide, tuple(keys), position=order[0].position, place=locate(order[0].expr)), columns, names)


def limited(plan: Logical, offset: int, fetch: int | None, ordered: bool, position: Position) -> Logical:
    """The plan with OFFSET and LIMIT, put into the Sort that is there if `ordered`."""
    if not offset and fetch is None:
        return plan
    if ordered and isinstance(plan, Sort):
        return replace(plan, offset=offset, fetch=fetch)
    if ordered and isinstance(plan, Project) and isinstance(plan.input, Sort):
        return replace(plan, input=replace(plan.input, offset=offset, fetch=fetch))
    return Sort(plan, (), offset, fetch, position)
