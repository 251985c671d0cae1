"""Subqueries that give a value inside an expression: left joins with an aggregate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Expression, InputRef, Literal, input_indexes
from execnodes.core.types import BIGINT, LogicalType
from execnodes.core.words import counted
from execnodes.functions import resolve
from planner import syntax as s
from planner.algebra import Join, JoinType, Logical
from planner.algebra.predicates import OPPOSITES
from planner.bind import truths
from planner.bind.aggregate import is_aggregated
from planner.bind.builder import Builder
from planner.bind.expression_binder import Converter, all_of, and_members, is_aggregate, walk
from planner.bind.hints import StateTtl
from planner.bind.missing_comma import guess_missing_comma
from planner.bind.outer_values import read_values_in
from planner.bind.pull_up import pulled_subquery
from planner.bind.relations import build_source
from planner.bind.scope import Scope
from planner.bind.source import TRUE, Source, refs, row_of
from planner.bind.subquery_shapes import SUBQUERY, decorrelate, has_subquery, is_one_row, plain_select, reads_only
from planner.catalog.catalogs import Catalog

_STRICT = frozenset(("+", "-", "*", "/", "CAST"))
"""Functions that are NULL if an operand is."""


@dataclass(frozen=True)
class Key:
    """A condition ``inner = outer`` by which rows of a subquery are grouped and joined."""

    inner: s.Expr
    outer: Expression
    member: s.Expr | None = None
    """Where it stands in WHERE."""


class Subqueries:
    """The subqueries in the expressions of one SELECT."""

    def __init__(self, builder: Builder, outer: Scope | None) -> None:
        """`outer` is the scope around the SELECT, if it is a subquery itself."""
        self._builder = builder
        self._outer = outer
        self._results: dict[int, Expression] = {}

    def replace(self, node: s.Expr) -> Expression | None:
        """The column that holds a scalar subquery's value."""
        return self._results.get(id(node))

    def inner_only(self, condition: Expression, node: s.Expr) -> Expression:
        """The condition; SqlError if it reads a column of the query around, where that cannot be."""
        if self._outer is not None and any(index < 0 for index in input_indexes(condition)):
            raise SqlError(
                "a condition that reads the outer query may not stand here",
                position=node.position,
                hint="Put it among the ANDed conditions of the subquery's WHERE.",
            )
        return condition

    def attach_values(self, source: Source, exprs: list[s.Expr], converter: Converter | None = None) -> Source:
        """The source with columns behind its own for each subquery in the expressions; `converter` if it is grouped."""
        for each in [each for expr in exprs for each in reversed(walk(expr))]:
            if isinstance(each, SUBQUERY) and id(each) not in self._results:
                outer = converter or Converter(source.scope, self._builder.catalog, self.replace, clause="a subquery")
                with source.scope.around():
                    pulled = pulled_subquery(self._builder, source.scope, each)
                    pulled = read_values_in(self._builder, source, pulled)
                    source = self._attached(source, pulled, outer)
                    self._results[id(each)] = self._results.pop(id(pulled))
        return source

    def _attached(self, source: Source, node: s.Expr, outer: Converter) -> Source:
        match node:
            case s.ScalarQuery():
                return self._scalar(source, node)
            case s.ExistsQuery():
                return self._exists_value(source, node)
            case s.InQuery():
                return self._in_value(source, node, [outer.convert(value) for value in node.values])
            case s.QuantifiedQuery():
                return self._quantified(source, node, outer.convert(node.value))
            case _:
                raise SqlError("expected a subquery", position=node.position)

    def _scalar(self, source: Source, node: s.ScalarQuery) -> Source:
        body = node.query.body
        single = isinstance(body, s.Select) and len(body.items) == 1 and body.group is None
        if isinstance(body, s.Select) and single and is_aggregated(body, (), self._builder.catalog):
            keys = self.correlation(source, body)
            if keys:
                return self._grouped(source, node, body, keys)
        elif node.query.fetch != 1:
            return self._single(source, node)
        plan = self._builder.subquery(node.query)
        if len(plan.type.fields) != 1:
            raise SqlError(f"a scalar subquery gives one column, not {len(plan.type.fields)}", position=node.position)
        self._results[id(node)] = InputRef(input_index=source.width, type=plan.type.fields[0].type.with_nullable(True))
        return self._joined(source, plan, TRUE, node.position)

    def _single(self, source: Source, node: s.ScalarQuery) -> Source:
        """The only row of a query, which fails if there is another one."""
        body = self._selected(source, node.query)
        if body.distinct:
            body = self._derived(node.query)
        if len(body.items) != 1:
            raise SqlError(f"a scalar subquery gives one column, not {len(body.items)}", position=node.position)
        only = s.SelectItem(s.Call("SINGLE_VALUE", (body.items[0].expr,), position=node.position))
        source, (value,), _ = self._aggregated(source, body, (only,), self.correlation(source, body))
        self._results[id(node)] = value
        return source

    def correlation(self, source: Source, body: s.Select) -> list[Key]:
        """Conditions ``inner = outer`` of a subquery."""
        inner = build_source(self._builder, body, StateTtl(()), None)
        outer = Converter(source.scope, self._builder.catalog, self.replace, clause="a subquery")
        found: list[Key] = []
        for member in and_members(body.where):
            if has_subquery(member) or reads_only(member, inner.scope):
                continue
            if not isinstance(member, s.Call) or member.name != "=":
                raise SqlError(
                    "a subquery inside an expression may read the outer query only in conditions inner = outer",
                    position=member.position,
                    hint="Write it as a join.",
                )
            one, other = member.args
            if not reads_only(one, inner.scope):
                one, other = other, one
            if not reads_only(one, inner.scope) or not reads_only(other, source.scope):
                inner.scope.resolve(_first_unknown(member, inner.scope, source.scope))
            found.append(Key(one, outer.convert(other), member))
        return found

    def _exists_value(self, source: Source, node: s.ExistsQuery) -> Source:
        if is_one_row(self._builder, source.scope, node.query):
            self._results[id(node)] = TRUE
            return source
        query = decorrelate(self._builder, source.scope, node.query)
        body = plain_select(query, self._builder.catalog) or self._derived(query)
        source, (count,), _ = self._aggregated(source, body, (_count(),), self.correlation(source, body))
        self._results[id(node)] = truths.some(count)
        return source

    def _in_value(self, source: Source, node: s.InQuery, values: list[Expression]) -> Source:
        body = self._selected(source, node.query)
        members = [item.expr for item in body.items]
        if len(members) != len(values):
            raise SqlError(
                f"IN compares {counted(len(values), 'value')} with {counted(len(members), 'column')}",
                position=node.position,
                hint=guess_missing_comma(self._builder, node.query, len(values) - len(members)),
            )
        correlated = self.correlation(source, body)
        equal = [Key(each, self.inner_only(value, node)) for each, value in zip(members, values, strict=True)]
        source, (matches,), types = self._aggregated(source, body, (_count(),), [*correlated, *equal])
        found = truths.some(matches)
        if any(each.nullable for each in (*types[len(correlated) :], *(value.type for value in values))):
            if len(values) > 1:
                raise SqlError(
                    "IN with several values that can be NULL may only stand among the ANDed conditions of WHERE",
                    position=node.position,
                    hint="Write EXISTS with a condition for each value.",
                )
            calls = (_count(), _count(members[0]))
            source, (rows, known), _ = self._aggregated(source, body, calls, correlated)
            found = truths.member(values[0], matches, rows, known)
        self._results[id(node)] = resolve("NOT", (found,)) if node.negated else found
        return source

    def _quantified(self, source: Source, node: s.QuantifiedQuery, value: Expression) -> Source:
        body = self._selected(source, node.query)
        if len(body.items) != 1:
            raise SqlError(f"{node.sign} ALL or SOME compares with one column", position=node.position)
        inner = body.items[0].expr
        sign = OPPOSITES[node.sign] if node.every else node.sign
        bounding = (s.SelectItem(s.Call(name, (inner,))) for name in truths.BOUNDS[sign])
        calls = (_count(), _count(inner), *bounding)
        correlated = self.correlation(source, body)
        source, (rows, known, *bounds), _ = self._aggregated(source, body, calls, correlated)
        plan = self._builder.query(s.Query(replace(body, where=None)), nested=True)
        nullable = value.type.nullable or plan.type.fields[0].type.nullable
        found = truths.compared(self.inner_only(value, node), sign, bounds, rows, known, nullable=nullable)
        self._results[id(node)] = resolve("NOT", (found,)) if node.every else found
        return source

    def _selected(self, source: Source, query: s.Query) -> s.Select:
        """A SELECT that only filters and selects columns, with the rows of a query."""
        query = decorrelate(self._builder, source.scope, query)
        body = plain_select(query, self._builder.catalog)
        items = [item.expr for item in body.items] if body is not None else []
        simple = not any(isinstance(each, s.Star | s.Constant) or has_subquery(each) for each in items)
        return body if body is not None and simple else self._derived(query)

    def _derived(self, query: s.Query) -> s.Select:
        names = tuple(f"EXPR${i}" for i in range(len(self._builder.subquery(query).type.fields)))
        items = tuple(s.SelectItem(s.Name((name,), position=query.position)) for name in names)
        return s.Select(items, s.Derived(query, s.Alias("EXPR$", names), position=query.position))

    def _grouped(self, source: Source, node: s.ScalarQuery, body: s.Select, keys: list[Key]) -> Source:
        if node.query.offset or node.query.fetch == 0:
            raise SqlError("a subquery that gives no row is not supported here", position=node.query.position)
        whole = replace(node.query, order=(), fetch=None)
        source, (self._results[id(node)],) = self.totals(source, body, keys, whole)
        return source

    def totals(
        self, source: Source, body: s.Select, keys: Sequence[Key], query: s.Query | None = None
    ) -> tuple[Source, list[Expression]]:
        """The source with the list of a query that aggregates all the rows it finds, also where it finds none.

        Then COUNT is 0, other aggregates are NULL, and what is computed of them is computed of these. With HAVING there
        is no row: all is NULL, as in Flink.
        """
        if body.having is not None or all(_is_strict(item.expr, self._builder.catalog) for item in body.items):
            source, values, _ = self._aggregated(source, body, body.items, keys, query)
            return source, values
        calls: dict[int, s.SelectItem] = {}
        for item in body.items:
            for each in walk(item.expr):
                if is_aggregate(each, self._builder.catalog):
                    calls[id(each)] = s.SelectItem(each, item.alias if each is item.expr else None)
        source, values, _ = self._aggregated(source, body, tuple(calls.values()), keys, query)
        found = {at: _of_none(value, item.expr) for (at, item), value in zip(calls.items(), values, strict=True)}

        def known(each: s.Expr) -> Expression | None:
            return found.get(id(each)) or self.replace(each)

        converter = Converter(Scope(()), self._builder.catalog, known, clause="SELECT")
        results = [converter.convert(item.expr) for item in body.items]
        return source, [each.model_copy(update={"type": each.type.with_nullable(True)}) for each in results]

    def _aggregated(
        self,
        source: Source,
        body: s.Select,
        calls: tuple[s.SelectItem, ...],
        keys: Sequence[Key],
        query: s.Query | None = None,
    ) -> tuple[Source, list[Expression], list[LogicalType]]:
        """The source with aggregates of those rows of `body` whose keys are equal; their columns, types of the keys.

        `query` is what `body` stands in, if more stands there.
        """
        used = [key.member for key in keys]
        rest = [member for member in and_members(body.where) if not any(member is each for each in used)]
        condition = None if not rest else rest[0] if len(rest) == 1 else s.Call("AND", tuple(rest))
        items = (*(s.SelectItem(key.inner, f"$key{i}") for i, key in enumerate(keys)), *calls)
        group = tuple(key.inner for key in keys) or None
        grouped = replace(body, items=items, where=condition, group=group, distinct=False)
        whole = s.Query(grouped, position=body.position) if query is None else replace(query, body=grouped)
        plan = self._builder.query(whole, nested=True)
        width, fields = source.width, plan.type.fields
        equal = [
            resolve("=", (key.outer, InputRef(input_index=width + i, type=fields[i].type)), position=key.inner.position)
            for i, key in enumerate(keys)
        ]
        joined = self._joined(source, plan, all_of(equal) or TRUE, body.position)
        columns = refs(joined.logical.type)[width + len(keys) :]
        return joined, columns, [field.type for field in fields[: len(keys)]]

    def _joined(self, source: Source, plan: Logical, condition: Expression, position: Position) -> Source:
        left, right = source.logical.type.fields, plan.type.fields
        names = [field.name for field in (*left, *right)]
        types = [f.type for f in left] + [f.type.with_nullable(True) for f in right]
        return source.on(Join(source.logical, plan, JoinType.LEFT, condition, row_of(names, types), position=position))


def _first_unknown(node: s.Expr, *scopes: Scope) -> s.Name:
    names = [each for each in walk(node) if isinstance(each, s.Name)]
    return next((name for name in names if not any(scope.finds(name) for scope in scopes)), names[0])


def _count(value: s.Expr | None = None) -> s.SelectItem:
    """COUNT of rows, or of the values that are not NULL."""
    return s.SelectItem(s.Call("COUNT", (), star=True) if value is None else s.Call("COUNT", (value,)))


def _is_strict(node: s.Expr, catalog: Catalog) -> bool:
    """Whether an expression over aggregates is NULL where no row was found."""
    if is_aggregate(node, catalog):
        return isinstance(node, s.Call) and node.name.upper() != "COUNT"
    return (
        isinstance(node, s.Call)
        and node.name.upper() in _STRICT
        and any(_is_strict(each, catalog) for each in node.args)
    )


def _of_none(value: Expression, node: s.Expr) -> Expression:
    """An aggregate behind a left join: what it is of no rows."""
    if not isinstance(node, s.Call) or node.name.upper() != "COUNT":
        return value
    found = resolve("COALESCE", (value, Literal(value=0, type=BIGINT.not_null())), position=node.position)
    return found.model_copy(update={"type": found.type.with_nullable(True)})
