"""Shapes of subqueries: what reads the query around, and aggregates over it as rows of each key."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.errors import SqlError
from planner import syntax as s
from planner.bind.aggregate import is_aggregated
from planner.bind.builder import Builder
from planner.bind.expression_binder import and_members, walk
from planner.bind.hints import StateTtl
from planner.bind.relations import build_source
from planner.bind.scope import Scope
from planner.catalog.catalogs import Catalog

SUBQUERY = (s.ScalarQuery, s.ExistsQuery, s.InQuery, s.QuantifiedQuery)


def has_subquery(node: s.Expr) -> bool:
    """True if there is a subquery anywhere in an expression."""
    return any(isinstance(each, SUBQUERY) for each in walk(node))


def reads_only(node: s.Expr, scope: Scope) -> bool:
    """Whether all names of an expression are columns of the scope itself."""
    return all(scope.finds(each) for each in walk(node) if isinstance(each, s.Name))


def plain_select(query: s.Query, catalog: Catalog) -> s.Select | None:
    """The SELECT of a query that only filters and projects."""
    body = query.body
    if query.with_items or query.fetch is not None or query.offset or not isinstance(body, s.Select):
        return None
    plain = not body.qualify and body.relation is not None and not is_aggregated(body, (), catalog)
    over = any(isinstance(e, s.Call) and e.over for item in body.items for e in walk(item.expr))
    return body if plain and not over else None


def is_one_row(builder: Builder, outer: Scope, query: s.Query) -> bool:
    """Whether a subquery that reads the query around gives one row whatever it finds: aggregates without GROUP BY."""
    body = query.body
    single = isinstance(body, s.Select) and body.group is None and body.having is None
    return single and decorrelate(builder, outer, query) is not query


def decorrelate(builder: Builder, outer: Scope, query: s.Query) -> s.Query:
    """The query; if it aggregates rows by conditions ``inner = outer``, one over the aggregates of each `inner`.

    Where no row is found there is none to select from, also without GROUP BY: so Flink has it.
    """
    body = query.body
    if query.with_items or query.fetch is not None or query.offset or not isinstance(body, s.Select):
        return query
    if body.relation is None or body.qualify or not is_aggregated(body, (), builder.catalog):
        return query
    inner = build_source(builder, body, StateTtl(()), None).scope
    members = and_members(body.where)
    correlated = [each for each in members if not has_subquery(each) and reads(each, inner, outer)]
    _require_conditions(body, inner, outer)
    if not correlated:
        return query
    pairs = [_sides(each, inner, outer) for each in correlated]
    rest = [each for each in members if not any(each is one for one in correlated)]
    keys = tuple(s.SelectItem(key, f"$key{i}") for i, (key, _) in enumerate(pairs))
    grouped = replace(
        body,
        items=(*body.items, *keys),
        where=all_of(rest),
        group=(*(body.group or ()), *(key for key, _ in pairs)),
        distinct=False,
    )
    results = tuple(f"$result{i}" for i in range(len(body.items)))
    names = (*results, *(f"$key{i}" for i in range(len(pairs))))
    derived = s.Derived(s.Query(grouped, position=query.position), s.Alias("$groups", names), position=query.position)
    equal = [
        s.Call("=", (s.Name((f"$key{i}",), position=each.position), value), position=each.position)
        for i, (each, (_, value)) in enumerate(zip(correlated, pairs, strict=True))
    ]
    items = tuple(
        s.SelectItem(s.Name((name,), position=item.expr.position))
        for name, item in zip(results, body.items, strict=True)
    )
    return s.Query(s.Select(items, derived, all_of(equal), position=body.position), position=query.position)


def reads(node: s.Expr, inner: Scope, outer: Scope) -> bool:
    """Whether an expression names a column of the query around, or of the rows in front."""
    names = [each for each in walk(node) if isinstance(each, s.Name)]
    return any(not inner.finds(each) and outer.finds(each) for each in names)


def _sides(node: s.Expr, inner: Scope, outer: Scope) -> tuple[s.Expr, s.Expr]:
    """Both sides of a condition ``inner = outer``, in this order."""
    if isinstance(node, s.Call) and node.name == "=":
        one, other = node.args
        for key, value in ((one, other), (other, one)):
            names = [each for each in walk(value) if isinstance(each, s.Name)]
            if reads_only(key, inner) and not any(inner.finds(each) for each in names) and reads_only(value, outer):
                return key, value
    raise SqlError(
        "a subquery that aggregates may read the outer query only in conditions inner = outer",
        position=node.position,
        hint="Write it as a join.",
    )


def _require_conditions(body: s.Select, inner: Scope, outer: Scope) -> None:
    """SqlError where the outer query is read in another place than WHERE."""
    group = (each for item in body.group or () for each in ([item] if isinstance(item, s.Expr) else []))
    having = () if body.having is None else (body.having,)
    for part in (*(item.expr for item in body.items), *group, *having):
        for each in walk(part):
            if isinstance(each, s.Name) and not inner.finds(each) and outer.finds(each):
                if len(each.parts) == 1 and each.parts[0] in {item.alias for item in body.items}:
                    continue
                raise SqlError(
                    f"column '{'.'.join(each.parts)}' of the outer query cannot be used in a subquery that aggregates",
                    position=each.position,
                    hint="Read it in conditions inner = outer of the subquery's WHERE, or write a join.",
                )


def all_of(members: Sequence[s.Expr]) -> s.Expr | None:
    """The AND of conditions; None of none."""
    if len(members) > 1:
        return s.Call("AND", tuple(members), position=members[0].position)
    return members[0] if members else None
