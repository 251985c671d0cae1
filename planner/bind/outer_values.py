"""Subqueries that read the query around in any place: over its distinct values, as Flink's decorrelation has it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from planner import syntax as s
from planner.algebra import Aggregate
from planner.bind.aggregate import is_aggregated
from planner.bind.builder import Builder
from planner.bind.expression_binder import Converter, and_members, is_aggregate, walk
from planner.bind.hints import StateTtl
from planner.bind.outer_names import OuterNames
from planner.bind.relations import build_source
from planner.bind.replaced_names import replace_expressions
from planner.bind.source import Source, project
from planner.bind.subquery_shapes import SUBQUERY, all_of, has_subquery


def read_outer_values(
    builder: Builder, source: Source, query: s.Query, *, equal: bool = True, listed: bool = True
) -> s.Query:
    """The query; where it reads `source` as no join by its keys can, one that joins the distinct values it reads.

    Then it reads `source` in conditions ``value = column`` alone: rows with NULL in such a column find nothing, as in
    Flink. `equal`: rows are found by conditions ``inner = outer`` alone. `listed`: its list does not read `source`.
    """
    body = query.body
    if query.with_items or not isinstance(body, s.Select) or body.relation is None or _has_windows(body):
        return query
    names = OuterNames(builder, source.scope)
    if not names.of(query):
        return query
    equal = equal or body.distinct or is_aggregated(body, query.order, builder.catalog)
    with names.inside(body, query.order):
        if not _is_needed(builder, names, query, body, equal, listed):
            return query
        found = list(dict.fromkeys(names.of((body, query.order))))
        table = _keep_values(builder, source, found)
        columns = {name: s.Name((*table.parts, f"{table.parts[0]}_{at}")) for at, name in enumerate(found)}

        def column(name: s.Name) -> s.Expr:
            return replace(columns[name], position=name.position)

        changed = replace(
            body,
            relation=_with_first(table, names.replace(body.relation, column)),
            items=names.replace(body.items, column),
            where=all_of(
                [
                    *and_members(names.replace(body.where, column)),
                    *(s.Call("=", (column(name), name), position=name.position) for name in found),
                ]
            ),
            group=names.replace(body.group, column),
            having=names.replace(body.having, column),
        )
        order = names.replace(query.order, column)
    return replace(query, body=_without_stars(builder, changed, table), order=order)


def read_values_in(builder: Builder, source: Source, node: s.Expr) -> s.Expr:
    """A subquery that gives a value, likewise."""
    if not isinstance(node, SUBQUERY):
        return node
    query = read_outer_values(builder, source, node.query) if _is_whole(node.query) else node.query
    return node if query is node.query else replace(node, query=query)


def read_values_in_join(builder: Builder, source: Source, node: s.Expr) -> s.Expr:
    """EXISTS or IN that becomes a semi or anti join, which takes any condition of the rows that it selects."""
    if not isinstance(node, s.ExistsQuery | s.InQuery) or not _is_whole(node.query):
        return node
    listed = isinstance(node, s.InQuery)
    query = read_outer_values(builder, source, node.query, equal=False, listed=listed)
    return node if query is node.query else replace(node, query=query)


def _is_whole(query: s.Query) -> bool:
    return query.fetch is None and not query.offset


def _has_windows(body: s.Select) -> bool:
    """Windows of OVER would be over the rows of all values."""
    over = any(isinstance(each, s.Call) and each.over for item in body.items for each in walk(item.expr))
    return over or body.qualify is not None or bool(body.windows)


def _is_needed(builder: Builder, names: OuterNames, query: s.Query, body: s.Select, equal: bool, listed: bool) -> bool:
    """Whether the outer query is read in a place where a join by conditions cannot read it, and Flink can."""
    members = and_members(body.where)
    others = [item.expr for item in body.items]
    if any(_is_negated(each) and names.of(each) for each in members) or any(map(names.of, _conditions(body.relation))):
        return False
    if is_aggregated(body, query.order, builder.catalog) and names.of((_above_aggregates(builder, body), body.having)):
        return False
    if names.of(body.relation):
        return True
    if any(has_subquery(each) and names.of(each) for each in (*members, *others)):
        return True
    if (listed and names.of(body.items)) or (equal and names.of((body.items, body.group, body.having, query.order))):
        return True
    if not equal:
        return False
    scope = build_source(builder, body, StateTtl(()), None).scope
    for member in members:
        if not names.of(member):
            continue
        sides = member.args if isinstance(member, s.Call) and member.name == "=" else ()
        plain = [each for each in sides if isinstance(_uncast(each), s.Name) and names.of(each)]
        if len(plain) != 1 or any(names.of(each) for each in sides if each is not plain[0]):
            return True
        if not any(isinstance(part, s.Name) and scope.finds(part) for each in sides for part in walk(each)):
            return True
    return False


def _is_negated(node: s.Expr) -> bool:
    """NOT EXISTS and NOT IN, of which Flink makes other rows than SQL has if they read two levels up."""
    if isinstance(node, s.Call) and node.name == "NOT":
        return has_subquery(node)
    return isinstance(node, s.InQuery) and node.negated


def _conditions(node: s.Relation | None) -> Iterator[s.Expr]:
    """What stands in ON."""
    if isinstance(node, s.Join):
        yield from _conditions(node.left)
        yield from _conditions(node.right)
        if node.condition is not None:
            yield node.condition


def _above_aggregates(builder: Builder, body: s.Select) -> tuple[s.Expr, ...]:
    """The list without its aggregates and subqueries."""

    def cut(node: s.Expr) -> s.Expr | None:
        return s.Star() if is_aggregate(node, builder.catalog) or isinstance(node, SUBQUERY) else None

    return tuple(replace_expressions(item.expr, cut) for item in body.items)


def _uncast(node: s.Expr) -> s.Expr:
    return node.args[0] if isinstance(node, s.Call) and node.name == "CAST" and node.args else node


def _keep_values(builder: Builder, source: Source, names: list[s.Name]) -> s.TableName:
    """A table of the distinct values that outer columns have."""
    converter = Converter(source.scope, builder.catalog, clause="a subquery")
    values = [converter.convert(name) for name in names]
    return builder.keep_plan(
        lambda table: Aggregate(
            plan := project(source.logical, values, [f"{table}_{at}" for at in range(len(values))]),
            tuple(range(len(values))),
            (),
            plan.type,
            position=names[0].position,
        )
    )


def _with_first(table: s.TableName, relation: s.Relation) -> s.Relation:
    """FROM with a table in front of all the others, so that each of them can read it."""
    if isinstance(relation, s.Join) and relation.kind in ("INNER", "CROSS", "LEFT"):
        return replace(relation, left=_with_first(table, relation.left))
    return s.Join(table, relation, "CROSS", position=relation.position)


def _without_stars(builder: Builder, body: s.Select, table: s.TableName) -> s.Select:
    """The SELECT whose ``*`` means no column of the table of values."""
    if not any(isinstance(item.expr, s.Star) and not item.expr.qualifier for item in body.items):
        return body
    items = list[s.SelectItem]()
    for item in body.items:
        if isinstance(item.expr, s.Star) and not item.expr.qualifier:
            scope = build_source(builder, body, StateTtl(()), None).scope
            own = [each for each in scope.relations if each.alias != table.parts[0]]
            pairs = [(() if each.alias is None else (each.alias,), field) for each in own for field in each.fields]
            items += [s.SelectItem(s.Name((*prefix, f.name), position=item.expr.position)) for prefix, f in pairs]
        else:
            items.append(item)
    return replace(body, items=tuple(items))
