"""SELECT: FROM, WHERE, GROUP BY, HAVING, OVER, QUALIFY, the list, DISTINCT, ORDER BY, in this order."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, FieldAccess, InputRef
from execnodes.core.types import Root
from planner import syntax as s
from planner.algebra import Aggregate, Logical, Sort
from planner.algebra.columns import unique_names
from planner.bind.aggregate import build_aggregate, is_aggregated, read_by_aggregates
from planner.bind.builder import Builder, Expected
from planner.bind.expression_binder import Converter, and_members
from planner.bind.hints import StateTtl
from planner.bind.over import build_over
from planner.bind.qualify import qualified
from planner.bind.relations import build_source
from planner.bind.scope import RENAME, Relation, Scope
from planner.bind.sorting import ordinal, sort_key
from planner.bind.source import Source, project, refs
from planner.bind.stage import Stage
from planner.bind.subqueries import Subqueries
from planner.bind.subquery_joins import Where
from planner.bind.values import typed_null
from planner.bind.written import locate
from planner.catalog.catalogs import quoted


@dataclass(frozen=True)
class Item:
    """A column of the SELECT list."""

    expression: Expression
    name: str
    """Of the column; no two columns have the same."""
    node: s.Expr
    written: str = ""
    """The name that the list gives it, which may repeat; star's columns have other ones then, as in Flink."""


@dataclass(frozen=True)
class StarItem(Item):
    """A column that a star stands for."""

    node: s.Name


def build_select(
    builder: Builder, node: s.Select, order: tuple[s.OrderItem, ...], outer: Scope | None, expected: Expected
) -> Logical:
    """The plan of a SELECT; its ORDER BY may read columns that are not in the list."""
    ttl = StateTtl(node.hints)
    if outer is None and not node.hints:
        source = builder.once((node.relation, *and_members(node.where)), lambda: _filtered(builder, node, ttl, None))
    else:
        source = _filtered(builder, node, ttl, outer)
    subqueries = Subqueries(builder, outer)
    stage = _grouped(builder, node, order, source, subqueries, ttl)
    ttl.check()
    stage = qualified(node, build_over(builder, node, order, stage))
    items = _items(builder, node, source, stage, expected)
    return _output(node, order, items, stage)


def _filtered(builder: Builder, node: s.Select, ttl: StateTtl, outer: Scope | None) -> Source:
    """FROM and WHERE."""
    return Where(builder, outer).filtered(build_source(builder, node, ttl, outer), node.where)


def _grouped(
    builder: Builder,
    node: s.Select,
    order: tuple[s.OrderItem, ...],
    source: Source,
    subqueries: Subqueries,
    ttl: StateTtl,
) -> Stage:
    """The groups, or the rows themselves; subqueries of what stands above are columns of either."""
    above = [*(item.expr for item in node.items), *(item.expr for item in order)]
    above += [e for e in (node.having, node.qualify) if e is not None]
    if is_aggregated(node, order, builder.catalog):
        name = source.name
        source = subqueries.attach_values(source, read_by_aggregates(node, order, builder.catalog))
        plan, grouped = build_aggregate(builder, node, order, source, ttl.of(name), subqueries.replace)
        grouped.replace = subqueries.replace
        with source.scope.around("A subquery over groups may read what stands in GROUP BY."):
            attached = subqueries.attach_values(Source(plan, grouped.key_scope()), above, grouped)
        return Stage(attached.logical, grouped).filtered(node.having, "HAVING")
    if node.having is not None:
        raise SqlError("HAVING needs GROUP BY or an aggregate", position=node.having.position, hint="Write WHERE.")
    source = subqueries.attach_values(source, above)
    return Stage(source.logical, Converter(source.scope, builder.catalog, subqueries.replace, clause="SELECT"))


def list_columns(
    builder: Builder, node: s.Select, source: Source, subqueries: Subqueries
) -> tuple[Source, list[str], list[Expression]]:
    """The SELECT list of a query without groups: the source it reads, names and expressions."""
    source = subqueries.attach_values(source, [item.expr for item in node.items])
    converter = Converter(source.scope, builder.catalog, subqueries.replace, clause="SELECT")
    items = _items(builder, node, source, Stage(source.logical, converter), None)
    return source, [item.written for item in items], [item.expression for item in items]


def _items(builder: Builder, node: s.Select, source: Source, stage: Stage, expected: Expected) -> list[Item]:
    found: list[Item] = []
    converter = stage.clause("SELECT")
    for item in node.items:
        if isinstance(item.expr, s.Star):
            columns = _star(item.expr, source, converter)
            builder.expansions[item.expr.span] = ", ".join(quoted(each.node.parts) for each in columns)
            found += columns
            continue
        expression = converter.convert(item.expr)
        expression = typed_null(expression, item.expr, len(found), expected)
        name = written_name(item) or f"EXPR${len(found)}"
        found.append(Item(expression, name, item.expr))
    names = unique_names([item.name for item in found])
    written = [name if isinstance(item, StarItem) else item.name for item, name in zip(found, names, strict=True)]
    builder.keep_names(node, tuple(written))
    return [Item(a.expression, name, a.node, given) for a, name, given in zip(found, names, written, strict=True)]


def written_name(item: s.SelectItem) -> str | None:
    """The name that the text gives a column; None if it gives none, as a star does."""
    return item.alias or (item.expr.parts[-1] if isinstance(item.expr, s.Name) else None)


def _star(star: s.Star, source: Source, converter: Converter) -> list[StarItem]:
    """Columns of ``*`` or ``t.*``, fields of ``row_column.*``."""
    scope = source.scope
    if not star.qualifier:
        if not scope.relations:
            raise SqlError("SELECT * needs FROM", position=star.position)
        merged = [s.Name((name,), position=star.position) for name, _ in scope.merged]
        found = [StarItem(converter.convert(name), name.parts[0], name) for name in merged]
        return found + [i for r in scope.relations for i in _columns(r, star, converter, r.hidden)]
    relation = scope.relation(star.qualifier)
    if relation is not None:
        return _columns(relation, star, converter, frozenset())
    name = s.Name(star.qualifier, position=star.position)
    base = converter.convert(name)
    if base.type.root is not Root.ROW:
        raise SqlError(f"'{'.'.join(star.qualifier)}' is no table and no ROW", position=star.position)
    return [
        StarItem(
            FieldAccess(name=f.name, expr=base, type=f.type.with_nullable(f.type.nullable or base.type.nullable)),
            f.name,
            s.Name((*star.qualifier, f.name), position=star.position),
        )
        for f in base.type.fields
    ]


def _columns(relation: Relation, star: s.Star, converter: Converter, hidden: frozenset[str]) -> list[StarItem]:
    found = []
    for field, index in zip(relation.fields, relation.indexes, strict=True):
        if field.name in hidden:
            continue
        relation.require_unique(field.name, star.position)
        column = InputRef(input_index=index, type=field.type)
        node = s.Name((*((relation.alias,) if relation.alias else ()), field.name), position=star.position)
        found.append(StarItem(converter.column(column, node), field.name, node))
    return found


def _output(node: s.Select, order: tuple[s.OrderItem, ...], items: list[Item], stage: Stage) -> Logical:
    names = [item.name for item in items]
    expressions = [item.expression for item in items]
    width = len(items)
    keys = []
    for item in order:
        expression = _order_expression(item, items, stage.clause("ORDER BY"))
        if expression not in expressions:
            if node.distinct:
                raise SqlError("ORDER BY of SELECT DISTINCT takes columns of the list", position=item.position)
            expressions.append(expression)
        index = expressions.index(expression)
        keys.append(sort_key(item, InputRef(input_index=index, type=expression.type)))
    extra = [f"$order{i}" for i in range(len(expressions) - width)]
    plan: Logical = project(stage.plan, expressions, names + extra)
    if node.distinct:
        plan = distinct(plan, node)
    if keys:
        plan = Sort(plan, tuple(keys), position=order[0].position, place=locate(order[0].expr))
    return project(plan, refs(plan.type)[:width], names) if extra else plan


def _order_expression(item: s.OrderItem, items: list[Item], converter: Converter) -> Expression:
    index = ordinal(item, len(items))
    if index is not None:
        return items[index].expression
    if isinstance(item.expr, s.Name) and len(item.expr.parts) == 1:
        name = item.expr.parts[0]
        meant = [each.expression for each in items if each.written == name]
        if len(meant) > 1:
            raise SqlError(f"Column '{name}' is ambiguous", position=item.position, hint=RENAME)
        if meant:
            return meant[0]
    return converter.convert(item.expr)


def distinct(plan: Logical, node: s.Select) -> Logical:
    """The plan without duplicates."""
    return Aggregate(plan, tuple(range(len(plan.type.fields))), (), plan.type, position=node.position)
