"""Expressions with parts of them replaced, in queries inside of them too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from planner import syntax as s

Change = Callable[[s.Expr], s.Expr | None]
"""What stands for a part; None: the part, with its own parts changed."""


def replace_expressions(node: s.Expr, change: Change) -> s.Expr:
    """The expression with parts replaced; queries in it stay as they are."""
    found = change(node)
    if found is not None:
        return found
    match node:
        case s.Call():
            args = tuple(replace_expressions(each, change) for each in node.args)
            chosen = None if node.filter is None else replace_expressions(node.filter, change)
            return replace(node, args=args, filter=chosen)
        case s.Access():
            return replace(node, expr=replace_expressions(node.expr, change))
        case s.InQuery():
            return replace(node, values=tuple(replace_expressions(each, change) for each in node.values))
        case s.QuantifiedQuery():
            return replace(node, value=replace_expressions(node.value, change))
        case s.Name() | s.Star() | s.Constant() | s.ScalarQuery() | s.ExistsQuery():
            return node
        case never:
            assert_never(never)


def replace_in_queries(node: s.Expr, meant: Callable[[s.Query, s.Name], s.Expr | None]) -> s.Expr:
    """The expression; names in the lists and conditions of its queries are replaced by what they mean."""

    def query(each: s.Query) -> s.Query:
        body = each.body
        if not isinstance(body, s.Select):
            return each

        def name(part: s.Expr) -> s.Expr | None:
            return meant(each, part) if isinstance(part, s.Name) else None

        where = None if body.where is None else replace_expressions(body.where, name)
        having = None if body.having is None else replace_expressions(body.having, name)
        items = tuple(replace(item, expr=replace_expressions(item.expr, name)) for item in body.items)
        changed = replace(body, items=items, where=where, having=having)
        return each if changed == body else replace(each, body=changed)

    def subquery(each: s.Expr) -> s.Expr | None:
        if not isinstance(each, s.ScalarQuery | s.ExistsQuery | s.InQuery | s.QuantifiedQuery):
            return None
        found = query(each.query)
        return None if found is each.query else replace(each, query=found)

    found = replace_expressions(node, subquery)
    return node if found == node else found
