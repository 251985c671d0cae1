"""Subqueries that read the query around them from further inside, brought into the form that joins are made of.

Conditions that read the query around leave queries in FROM and in WITH for the WHERE of the subquery itself; EXISTS and
IN inside of it that read two levels up are joined to its FROM, or read the column of the middle one that is equal.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from typing import assert_never

from planner import syntax as s
from planner.bind.aggregate import is_aggregated
from planner.bind.builder import Builder
from planner.bind.expression_binder import and_members, children, walk
from planner.bind.hints import StateTtl
from planner.bind.inlined_counts import inline_count
from planner.bind.relations import build_source
from planner.bind.replaced_names import replace_expressions, replace_in_queries
from planner.bind.scope import Scope, UnknownColumn
from planner.bind.subquery_shapes import all_of, has_subquery, plain_select, reads, reads_only


def pulled_up(
    builder: Builder, outer: Scope, query: s.Query, *, repeats: bool = False, numbers: Iterator[int] | None = None
) -> s.Query:
    """The query with the conditions of queries inside of it that read `outer` in its own WHERE, as far as can be.

    `repeats`: a row more of the same does not matter, as in EXISTS. `numbers`: of the columns that are made.
    """
    return _PullUp(builder, outer, numbers or count(), repeats).query(query)


def pulled_subquery(builder: Builder, outer: Scope, node: s.Expr) -> s.Expr:
    """A subquery likewise; others are what they are."""
    match node:
        case s.ExistsQuery():
            found = pulled_up(builder, outer, _without_limit(builder, outer, node.query), repeats=True)
        case s.InQuery():
            found = pulled_up(builder, outer, node.query, repeats=True)
        case s.ScalarQuery() | s.QuantifiedQuery():
            found = pulled_up(builder, outer, node.query)
        case s.Name() | s.Star() | s.Constant() | s.Call() | s.Access():
            return node
        case never:
            assert_never(never)
    return node if found is node.query else replace(node, query=found)


def _without_limit(builder: Builder, outer: Scope, query: s.Query) -> s.Query:
    """The query of EXISTS, whose first rows exist if any does; one that reads nothing around it stays as it is."""
    body = query.body
    if not query.fetch or query.offset or query.with_items or not isinstance(body, s.Select) or body.where is None:
        return query
    inner = build_source(builder, body, StateTtl(()), None).scope
    return replace(query, order=(), fetch=None) if reads(body.where, inner, outer) else query


class _PullUp:
    def __init__(self, builder: Builder, outer: Scope, numbers: Iterator[int], repeats: bool) -> None:
        self._builder, self._outer, self._numbers, self._repeats = builder, outer, numbers, repeats

    def query(self, query: s.Query) -> s.Query:
        query = inline_count(self._builder, self._outer, self._without_with(query))
        body = query.body
        if query.with_items or not isinstance(body, s.Select) or body.relation is None:
            return query
        relation, lifted = self._relation(body.relation)
        if relation is not body.relation:
            body = self._over(body, relation, lifted)
        body = self._nested(body)
        return query if body is query.body else replace(query, body=body)

    def _without_with(self, query: s.Query) -> s.Query:
        """Queries of WITH that read the query around stand in FROM."""
        if not query.with_items or not isinstance(query.body, s.Select) or query.body.relation is None:
            return query
        try:
            self._builder.within(query.with_items)
        except UnknownColumn as error:
            if not self._outer.finds(error.name):
                raise
            queries = dict[str, s.WithItem]()
            for item in query.with_items:
                queries[item.name] = replace(item, query=_inlined(item.query, queries))
            return _inlined(replace(query, with_items=()), queries)
        return query

    def _over(self, body: s.Select, relation: s.Relation, lifted: Sequence[s.Expr]) -> s.Select:
        """The SELECT over a FROM that has more columns, with more conditions; its stars mean the columns of before."""
        changed = replace(body, relation=relation, where=all_of([*and_members(body.where), *lifted]))
        if not any(isinstance(item.expr, s.Star) for item in body.items):
            return changed
        scope = build_source(self._builder, changed, StateTtl(()), None).scope
        items = [each for item in body.items for each in _spelled(item, scope)]
        return replace(changed, items=tuple(items))

    def _relation(self, node: s.Relation) -> tuple[s.Relation, list[s.Expr]]:
        """FROM without the conditions that read the query around, and these."""
        if isinstance(node, s.Derived) and not node.lateral:
            return self._derived(node)
        if not isinstance(node, s.Join) or node.kind not in ("INNER", "CROSS", "LEFT"):
            return node, []
        left, found = self._relation(node.left)
        right, more = (node.right, list[s.Expr]()) if node.kind == "LEFT" else self._relation(node.right)
        same = left is node.left and right is node.right
        return (node, []) if same else (replace(node, left=left, right=right), [*found, *more])

    def _derived(self, node: s.Derived) -> tuple[s.Relation, list[s.Expr]]:
        query = pulled_up(self._builder, self._outer, node.query, repeats=self._repeats, numbers=self._numbers)
        body = query.body
        if query.with_items or query.fetch is not None or query.offset or not isinstance(body, s.Select):
            return node, []
        if body.relation is None:
            return node, []
        scope = build_source(self._builder, body, StateTtl(()), None).scope
        members = and_members(body.where)
        read = [each for each in members if not has_subquery(each) and reads(each, scope, self._outer)]
        if not read:
            return (node, []) if query is node.query else (replace(node, query=query), [])
        rest = [each for each in members if not any(each is one for one in read)]
        if plain_select(query, self._builder.catalog) is None or body.distinct:
            kept = self._by_keys(body, read, scope)
            if kept is None:
                return node, []
            body = kept
        items, lifted = self._lift(read, scope)
        body = replace(body, items=(*body.items, *items), where=all_of(rest))
        alias = node.alias
        if alias is not None and alias.columns:
            alias = replace(alias, columns=(*alias.columns, *(item.alias or "" for item in items)))
        return replace(node, query=replace(query, body=body), alias=alias), lifted

    def _by_keys(self, body: s.Select, read: Sequence[s.Expr], scope: Scope) -> s.Select | None:
        """A SELECT with groups or DISTINCT for each value of what is compared; None if that is not the same.

        Windows of OVER have to be for each such value by themselves: Flink numbers the rows of all of them.
        """
        sides = [_equality(each, scope) for each in read]
        keys = [side[0] for side in sides if side is not None]
        if len(keys) < len(read) or body.qualify is not None or body.windows:
            return None
        if is_aggregated(body, (), self._builder.catalog):
            if body.group is None or any(isinstance(each, s.GroupingSets) for each in body.group):
                return None
            body = replace(body, group=(*body.group, *keys))
        windows = [
            each.over for item in body.items for each in walk(item.expr) if isinstance(each, s.Call) and each.over
        ]
        parts = [[_meant(each, scope) for each in window.partition] for window in windows]
        return body if all(_meant(key, scope) in part for part in parts for key in keys) else None

    def _lift(self, conditions: Sequence[s.Expr], scope: Scope) -> tuple[list[s.SelectItem], list[s.Expr]]:
        """Columns for what conditions read of a query, and the conditions over these columns."""
        items, lifted = list[s.SelectItem](), list[s.Expr]()

        def column(each: s.Expr) -> s.Expr:
            name = next((item.alias for item in items if item.expr == each), None)
            if name is None:
                name = f"$pulled{next(self._numbers)}"
                items.append(s.SelectItem(each, name))
            return s.Name((name,), position=each.position)

        def own(each: s.Expr) -> s.Expr | None:
            return column(each) if isinstance(each, s.Name) and scope.finds(each) else None

        for condition in conditions:
            sides = _equality(condition, scope)
            if sides is not None:
                lifted.append(s.Call("=", (column(sides[0]), sides[1]), position=condition.position))
            else:
                lifted.append(replace_expressions(condition, own))
        return items, lifted

    def _nested(self, body: s.Select) -> s.Select:
        """Subqueries of WHERE that read the query around their own."""
        members = and_members(body.where)
        if not any(has_subquery(each) for each in members):
            return body
        scope = build_source(self._builder, body, StateTtl(()), None).scope
        equal = dict[tuple[str, ...], s.Expr]()
        for each in members:
            sides = _equality(each, scope)
            if sides is not None and isinstance(sides[1], s.Name) and self._outer.finds(sides[1]):
                equal.setdefault(sides[1].parts, sides[0])
        changed = [self._with_equal(each, equal) if has_subquery(each) else each for each in members]
        if any(mine is not other for mine, other in zip(changed, members, strict=True)):
            body = replace(body, where=all_of(changed))
        for each in changed:
            body = self._joined(body, each, scope)
        return body

    def _with_equal(self, node: s.Expr, equal: Mapping[tuple[str, ...], s.Expr]) -> s.Expr:
        """A condition whose subqueries read what is equal in the query around them, not two levels up."""

        def meant(query: s.Query, each: s.Name) -> s.Expr | None:
            found = equal.get(each.parts)
            if found is None or not isinstance(query.body, s.Select):
                return None
            own = build_source(self._builder, query.body, StateTtl(()), None).scope
            if own.finds(each) or any(own.finds(name) for name in walk(found) if isinstance(name, s.Name)):
                return None
            return found

        return replace_in_queries(node, meant) if equal else node

    def _joined(self, body: s.Select, member: s.Expr, scope: Scope) -> s.Select:
        """EXISTS or IN that reads two levels up, as a join with the rows that differ in what is compared."""
        if not isinstance(member, s.ExistsQuery | s.InQuery) or (isinstance(member, s.InQuery) and member.negated):
            return body
        found = plain_select(member.query, self._builder.catalog)
        if found is None:
            return body
        own = build_source(self._builder, found, StateTtl(()), None).scope
        conditions = and_members(found.where)
        far = [each for each in conditions if not has_subquery(each) and _reads_far(each, own, scope, self._outer)]
        if not far:
            return body
        if isinstance(member, s.InQuery):
            if any(isinstance(item.expr, s.Star) for item in found.items) or len(found.items) != len(member.values):
                return body
            conditions += [
                s.Call("=", (item.expr, value), position=member.position)
                for item, value in zip(found.items, member.values, strict=True)
            ]
        read = [each for each in conditions if not has_subquery(each) and not reads_only(each, own)]
        if not self._repeats and any(_equality(each, own) is None for each in read):
            return body
        rest = [each for each in conditions if not any(each is one for one in read)]
        items, lifted = self._lift(read, own)
        inner = replace(found, items=tuple(items), where=all_of(rest), distinct=True)
        right = s.Derived(s.Query(inner, position=member.position), position=member.position)
        assert body.relation is not None
        relation = s.Join(body.relation, right, "CROSS", position=member.position)
        left = [each for each in and_members(body.where) if each is not member]
        return self._over(replace(body, where=all_of(left)), relation, lifted)


def _inlined(query: s.Query, queries: Mapping[str, s.WithItem]) -> s.Query:
    body = query.body
    if not isinstance(body, s.Select) or body.relation is None:
        return query
    return replace(query, body=replace(body, relation=_with_queries(body.relation, queries)))


def _with_queries(node: s.Relation, queries: Mapping[str, s.WithItem]) -> s.Relation:
    """FROM in which these queries stand where their names do."""
    match node:
        case s.TableName() if len(node.parts) == 1 and node.parts[0] in queries:
            item = queries[node.parts[0]]
            alias = node.alias or s.Alias(item.name)
            return s.Derived(item.query, replace(alias, columns=alias.columns or item.columns), position=node.position)
        case s.Join():
            left, right = (_with_queries(each, queries) for each in (node.left, node.right))
            return replace(node, left=left, right=right)
        case s.Derived():
            return replace(node, query=_inlined(node.query, queries))
        case s.MatchRecognize():
            relation = _with_queries(node.relation, queries)
            assert isinstance(relation, s.TableName | s.Derived)
            return replace(node, relation=relation)
        case s.TableName() | s.TableFunction() | s.Unnest():
            return node


def _spelled(item: s.SelectItem, scope: Scope) -> Iterator[s.SelectItem]:
    """An item of a list; a star as the names of its columns, without those that are made here."""
    if not isinstance(item.expr, s.Star):
        yield item
        return
    wanted = scope.relation(item.expr.qualifier) if item.expr.qualifier else None
    for relation in scope.relations if wanted is None else (wanted,):
        for field in relation.fields:
            if not field.name.startswith("$pulled"):
                prefix = () if relation.alias is None else (relation.alias,)
                yield s.SelectItem(s.Name((*prefix, field.name), position=item.expr.position))


def _equality(node: s.Expr, scope: Scope) -> tuple[s.Expr, s.Expr] | None:
    """What a condition compares of this scope by ``=`` with something that reads nothing of it."""
    if not isinstance(node, s.Call) or node.name != "=":
        return None
    one, other = children(node)
    for mine, theirs in ((one, other), (other, one)):
        names = [each for each in walk(mine) if isinstance(each, s.Name)]
        if not names or not reads_only(mine, scope) or has_subquery(mine) or has_subquery(theirs):
            continue
        if not any(scope.finds(each) for each in walk(theirs) if isinstance(each, s.Name)):
            return mine, theirs
    return None


def _meant(node: s.Expr, scope: Scope) -> object:
    """A column, whatever its name; any other expression as it is written."""
    return scope.resolve(node) if isinstance(node, s.Name) else node


def _reads_far(node: s.Expr, own: Scope, middle: Scope, outer: Scope) -> bool:
    names = [each for each in walk(node) if isinstance(each, s.Name)]
    return any(not own.finds(each) and not middle.finds(each) and outer.finds(each) for each in names)
