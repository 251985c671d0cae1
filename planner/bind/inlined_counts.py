"""A query over one COUNT of rows that the query around chooses, as one query: of no rows it is 0, as in Flink."""

from __future__ import annotations

from dataclasses import replace

from planner import syntax as s
from planner.bind.aggregate import is_aggregated
from planner.bind.builder import Builder
from planner.bind.expression_binder import is_aggregate, walk
from planner.bind.outer_names import OuterNames
from planner.bind.replaced_names import replace_expressions
from planner.bind.scope import Scope


def inline_count(builder: Builder, outer: Scope, query: s.Query) -> s.Query:
    """``SELECT q.c + 1 FROM (SELECT COUNT(*) AS c FROM …) AS q`` as ``SELECT COUNT(*) + 1 FROM …``.

    Of several columns, and of what is computed of the aggregate inside, Flink makes NULL where there are no rows.
    """
    body = query.body
    if not isinstance(body, s.Select) or not isinstance(body.relation, s.Derived) or not _is_bare(query, body):
        return query
    derived = body.relation
    inner = derived.query.body
    if not isinstance(inner, s.Select) or not _is_one_aggregate(builder, derived.query, inner):
        return query
    column = _name(derived, inner)
    if column is None or not OuterNames(builder, outer).of(inner):
        return query
    item = replace(body.items[0], alias=body.items[0].alias or column)
    if isinstance(item.expr, s.Star):
        expr: s.Expr = inner.items[0].expr
    else:
        names = [each for each in walk(item.expr) if isinstance(each, s.Name)]
        if not names or any(not _means(each, derived, column) for each in names):
            return query
        expr = replace_expressions(item.expr, lambda each: inner.items[0].expr if isinstance(each, s.Name) else None)
    if is_aggregated(body, query.order, builder.catalog):
        return query
    return replace(query, body=replace(inner, items=(replace(item, expr=expr),)))


def _is_bare(query: s.Query, body: s.Select) -> bool:
    """Whether a query has one column and FROM, and nothing else."""
    only = replace(s.Select(body.items, body.relation), position=body.position)
    return (
        body == only
        and len(body.items) == 1
        and not (query.with_items or query.order or query.offset)
        and (query.fetch is None)
    )


def _is_one_aggregate(builder: Builder, query: s.Query, body: s.Select) -> bool:
    """Whether a query gives one aggregate of all rows."""
    clauses = (query.with_items, query.order, query.offset, body.group, body.having, body.qualify, body.windows)
    if any(clauses) or query.fetch is not None or body.distinct or len(body.items) != 1:
        return False
    return is_aggregate(body.items[0].expr, builder.catalog)


def _name(derived: s.Derived, inner: s.Select) -> str | None:
    alias = derived.alias
    return alias.columns[0] if alias is not None and alias.columns else inner.items[0].alias


def _means(name: s.Name, derived: s.Derived, column: str) -> bool:
    """Whether a name is that of the column, with or without the name of the query."""
    qualified = (derived.alias.name, column) if derived.alias is not None else (column,)
    return name.parts in ((column,), qualified)
