"""Subqueries become joins: EXISTS and IN semi and anti joins, scalar ones left joins with an aggregate."""

from __future__ import annotations

from dataclasses import dataclass, replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, InputRef, Literal, input_indexes, remap
from execnodes.core.types import BIGINT
from execnodes.core.words import counted
from execnodes.functions import resolve
from planner import syntax as s
from planner.algebra import Aggregate, Filter, Join, JoinType, Logical
from planner.algebra.columns import unique_names
from planner.bind.aggregate import is_aggregated
from planner.bind.builder import Builder
from planner.bind.expression_binder import Converter, all_of, and_members, walk
from planner.bind.hints import StateTtl
from planner.bind.relations import build_source
from planner.bind.scope import Scope
from planner.bind.source import TRUE, Source, project, refs, row_of
from planner.catalog.catalogs import Catalog

_Correlated = tuple[s.Expr, s.Expr, s.Expr]
"""A condition ``inner = outer`` of a subquery, its inner side, its outer side."""
_SUBQUERY = (s.ScalarQuery, s.ExistsQuery, s.InQuery)


@dataclass(frozen=True)
class _Right:
    """The right side of a semi or anti join: its plan and the condition over left and right columns."""

    plan: Logical
    condition: Expression


class Subqueries:
    """The subqueries of one SELECT."""

    def __init__(self, builder: Builder, outer: Scope | None) -> None:
        """`outer` is the scope around the SELECT, if it is a subquery itself."""
        self._builder = builder
        self._outer = outer
        self._results: dict[int, Expression] = {}

    def replace(self, node: s.Expr) -> Expression | None:
        """The column that holds a scalar subquery's value."""
        return self._results.get(id(node))

    def _inside(self, node: s.Expr) -> bool:
        """True if there is a subquery anywhere in an expression."""
        return any(isinstance(each, _SUBQUERY) for each in walk(node))

    def _is_join(self, node: s.Expr) -> bool:
        """True for [NOT] EXISTS and [NOT] IN as a whole condition."""
        inner = node.args[0] if isinstance(node, s.Call) and node.name == "NOT" else node
        return isinstance(inner, s.ExistsQuery | s.InQuery)

    def _inner_only(self, condition: Expression, node: s.Expr) -> Expression:
        """The condition; SqlError if it reads a column of the query around, where that cannot be."""
        if self._outer is not None and any(index < 0 for index in input_indexes(condition)):
            raise SqlError(
                "a condition that reads the outer query may not stand here",
                position=node.position,
                hint="Put it among the ANDed conditions of the subquery's WHERE.",
            )
        return condition

    def where(self, source: Source, node: s.Expr | None) -> Source:
        """The source behind WHERE; subqueries in it become joins."""
        members = and_members(node)
        joins = [member for member in members if self._is_join(member)]
        others = [member for member in members if member not in joins]
        plain = [member for member in others if not self._inside(member)]
        source = self._filtered(source, plain)
        for member in joins:
            source = self.join(source, member)
        rest = [member for member in others if self._inside(member)]
        return self._filtered(self.attach_values(source, rest), rest)

    def join(self, source: Source, node: s.Expr) -> Source:
        """A semi or anti join for [NOT] EXISTS and [NOT] IN."""
        negated = isinstance(node, s.Call)
        inner = node.args[0] if isinstance(node, s.Call) else node
        if isinstance(inner, s.InQuery):
            negated ^= inner.negated
            right = self._in(source, inner, negated)
        elif isinstance(inner, s.ExistsQuery):
            right = self._exists(source, inner)
        else:
            raise SqlError("expected EXISTS or IN", position=node.position)
        kind = JoinType.ANTI if negated else JoinType.SEMI
        left = source.logical
        return source.on(Join(left, right.plan, kind, right.condition, left.type, position=node.position))

    def attach_values(self, source: Source, exprs: list[s.Expr]) -> Source:
        """The source with a column behind its own for each scalar subquery in the expressions."""
        for expr in exprs:
            for each in walk(expr):
                if isinstance(each, s.ScalarQuery) and id(each) not in self._results:
                    source = self._scalar(source, each)
        return source

    def _filtered(self, source: Source, members: list[s.Expr]) -> Source:
        converter = Converter(source.scope, self._builder.catalog, self.replace, clause="WHERE")
        condition = all_of([self._inner_only(converter.condition(each), each) for each in members])
        return source if condition is None else source.on(Filter(source.logical, condition))

    def _exists(self, source: Source, node: s.ExistsQuery) -> _Right:
        body = _plain_select(node.query, self._builder.catalog)
        if body is not None:
            inner, correlated = self._split(source, body)
            if correlated:
                return _right(source, inner.logical, [], correlated)
        plan = self._builder.subquery(node.query)
        marked = project(plan, [TRUE], ["EXPR$0"])
        return _Right(Aggregate(marked, (0,), (), marked.type, position=node.position), TRUE)

    def _in(self, source: Source, node: s.InQuery, negated: bool) -> _Right:
        left = Converter(source.scope, self._builder.catalog, self.replace, clause="IN")
        values = [left.convert(value) for value in node.values]
        body = _plain_select(node.query, self._builder.catalog)
        correlated: list[Expression] = []
        if body is not None and not any(isinstance(item.expr, s.Star) for item in body.items):
            inner, correlated = self._split(source, body)
            right = Converter(inner.scope, self._builder.catalog, clause="SELECT")
            members = [self._inner_only(right.convert(item.expr), item.expr) for item in body.items]
            plan: Logical = inner.logical
        else:
            plan = self._builder.subquery(node.query)
            members = refs(plan.type)
        if len(members) != len(values):
            raise SqlError(
                f"IN compares {counted(len(values), 'value')} with {counted(len(members), 'column')}",
                position=node.position,
            )
        found = _right(source, plan, members, correlated)
        width = source.width
        columns = [InputRef(input_index=width + i, type=each.type) for i, each in enumerate(members)]
        equal = [_equal(node, v, c, negated) for v, c in zip(values, columns, strict=True)]
        rest = [] if found.condition == TRUE else [found.condition]
        return _Right(found.plan, all_of([*equal, *rest]) or TRUE)

    def _split(self, source: Source, body: s.Select) -> tuple[Source, list[Expression]]:
        """FROM and WHERE of a subquery without the conditions that read the outer query, and those."""
        ttl = StateTtl(body.hints)
        inner = build_source(self._builder, body, ttl, source.scope)
        ttl.check()
        converter = Converter(inner.scope, self._builder.catalog, clause="WHERE")
        correlated, rest = [], []
        for member in and_members(body.where):
            found = None if self._inside(member) else converter.condition(member)
            if found is not None and any(index < 0 for index in input_indexes(found)):
                correlated.append(found)
            else:
                rest.append(member)
        condition = None if not rest else rest[0] if len(rest) == 1 else s.Call("AND", tuple(rest))
        return Subqueries(self._builder, source.scope).where(inner, condition), correlated

    def _scalar(self, source: Source, node: s.ScalarQuery) -> Source:
        body = node.query.body
        single = isinstance(body, s.Select) and len(body.items) == 1 and body.group is None
        if isinstance(body, s.Select) and single and is_aggregated(body, (), self._builder.catalog):
            keys = self._correlation(source, body)
            if keys:
                return self._grouped(source, node, body, keys)
        elif node.query.fetch != 1:
            raise SqlError(
                "a scalar subquery must be an aggregate without GROUP BY, or have LIMIT 1",
                position=node.position,
                hint="Write e.g. (SELECT MAX(x) FROM …).",
            )
        plan = self._builder.subquery(node.query)
        if len(plan.type.fields) != 1:
            raise SqlError(f"a scalar subquery gives one column, not {len(plan.type.fields)}", position=node.position)
        return self._attached(source, node, plan, TRUE, 0)

    def _correlation(self, source: Source, body: s.Select) -> list[_Correlated]:
        """Conditions ``inner = outer`` of a subquery: the condition, its inner and its outer side."""
        inner = build_source(self._builder, body, StateTtl(()), None)
        found: list[_Correlated] = []
        for member in and_members(body.where):
            if self._inside(member) or _reads_only(member, inner.scope):
                continue
            if not isinstance(member, s.Call) or member.name != "=":
                raise SqlError(
                    "a scalar subquery may read the outer query only in conditions inner = outer",
                    position=member.position,
                    hint="Write it as a join.",
                )
            one, other = member.args
            if not _reads_only(one, inner.scope):
                one, other = other, one
            if not _reads_only(one, inner.scope) or not _reads_only(other, source.scope):
                inner.scope.resolve(_first_unknown(member, inner.scope, source.scope))
            found.append((member, one, other))
        return found

    def _grouped(self, source: Source, node: s.ScalarQuery, body: s.Select, keys: list[_Correlated]) -> Source:
        used = [member for member, _, _ in keys]
        rest = [member for member in and_members(body.where) if member not in used]
        condition = None if not rest else rest[0] if len(rest) == 1 else s.Call("AND", tuple(rest))
        items = tuple(s.SelectItem(inner, f"$key{i}") for i, (_, inner, _) in enumerate(keys))
        grouped = replace(body, items=(*items, *body.items), where=condition, group=tuple(k for _, k, _ in keys))
        plan = self._builder.query(replace(node.query, body=grouped), nested=True)
        outer = Converter(source.scope, self._builder.catalog, self.replace, clause="a subquery")
        width = source.width
        conditions = [
            resolve(
                "=",
                (outer.convert(side), InputRef(input_index=width + i, type=plan.type.fields[i].type)),
                position=member.position,
            )
            for i, (member, _, side) in enumerate(keys)
        ]
        return self._attached(source, node, plan, all_of(conditions) or TRUE, len(keys))

    def _attached(
        self, source: Source, node: s.ScalarQuery, plan: Logical, condition: Expression, column: int
    ) -> Source:
        left, right = source.logical.type.fields, plan.type.fields
        names = [field.name for field in (*left, *right)]
        types = [f.type for f in left] + [f.type.with_nullable(True) for f in right]
        join = Join(source.logical, plan, JoinType.LEFT, condition, row_of(names, types), position=node.position)
        value: Expression = InputRef(input_index=len(left) + column, type=types[len(left) + column])
        if column and _is_count(node.query.body):
            zero = Literal(value=0, type=BIGINT.not_null())
            value = resolve("COALESCE", (value, zero), position=node.position)
            value = value.model_copy(update={"type": value.type.with_nullable(True)})
        self._results[id(node)] = value
        return source.on(join)


def _plain_select(query: s.Query, catalog: Catalog) -> s.Select | None:
    """The SELECT of a query that only filters and projects."""
    body = query.body
    if query.with_items or query.fetch is not None or query.offset or not isinstance(body, s.Select):
        return None
    plain = not body.qualify and body.relation is not None and not is_aggregated(body, (), catalog)
    over = any(isinstance(e, s.Call) and e.over for item in body.items for e in walk(item.expr))
    return body if plain and not over else None


def _right(source: Source, plan: Logical, members: list[Expression], correlated: list[Expression]) -> _Right:
    """The plan cut to `members` and the columns the correlated conditions read, and these over the join."""
    read = sorted({index for condition in correlated for index in input_indexes(condition) if index >= 0})
    columns = refs(plan.type)
    expressions = [*members, *(columns[index] for index in read)]
    if not expressions:
        expressions = [TRUE]
    names = [f"EXPR${i}" for i in range(len(members))] + [plan.type.fields[index].name for index in read]
    cut = project(plan, expressions, unique_names(names or ["EXPR$0"]))
    places = {index: source.width + len(members) + i for i, index in enumerate(read)}
    moved = [remap(each, lambda index: -1 - index if index < 0 else places[index]) for each in correlated]
    return _Right(cut, all_of(moved) or TRUE)


def _equal(node: s.InQuery, value: Expression, column: Expression, negated: bool) -> Expression:
    """Equality; under NOT IN a NULL on either side counts as equal, so that no row is kept."""
    found = resolve("=", (value, column), position=node.position)
    if negated:
        for each in (value, column):
            if each.type.nullable:
                found = resolve("OR", (found, resolve("IS NULL", (each,))), position=node.position)
    return found


def _reads_only(node: s.Expr, scope: Scope) -> bool:
    return all(scope.finds(each) for each in walk(node) if isinstance(each, s.Name))


def _first_unknown(node: s.Expr, *scopes: Scope) -> s.Name:
    names = [each for each in walk(node) if isinstance(each, s.Name)]
    return next((name for name in names if not any(scope.finds(name) for scope in scopes)), names[0])


def _is_count(body: s.Body) -> bool:
    return (
        isinstance(body, s.Select)
        and isinstance(body.items[-1].expr, s.Call)
        and (body.items[-1].expr.name.upper() == "COUNT")
    )
