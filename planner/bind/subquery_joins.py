"""WHERE with subqueries: EXISTS and IN as whole conditions are semi and anti joins, others give values."""

from __future__ import annotations

from dataclasses import dataclass, replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, InputRef, input_indexes, remap
from execnodes.core.words import counted
from execnodes.functions import resolve
from planner import syntax as s
from planner.algebra import Aggregate, Filter, Join, JoinType, Logical
from planner.algebra.columns import unique_names
from planner.bind.builder import Builder
from planner.bind.expression_binder import Converter, all_of, and_members
from planner.bind.hints import StateTtl
from planner.bind.missing_comma import guess_missing_comma
from planner.bind.outer_values import read_values_in_join
from planner.bind.pull_up import pulled_subquery
from planner.bind.relations import build_source
from planner.bind.scope import Scope
from planner.bind.source import TRUE, Source, project, refs
from planner.bind.subqueries import Subqueries
from planner.bind.subquery_shapes import decorrelate, has_subquery, is_one_row, plain_select


@dataclass(frozen=True)
class _Right:
    """The right side of a semi or anti join: its plan and the condition over left and right columns."""

    plan: Logical
    condition: Expression


def _is_join(node: s.Expr) -> bool:
    """True for [NOT] EXISTS and [NOT] IN as a whole condition."""
    inner = node.args[0] if isinstance(node, s.Call) and node.name == "NOT" else node
    return isinstance(inner, s.ExistsQuery | s.InQuery)


class Where:
    """The conditions of one WHERE."""

    def __init__(self, builder: Builder, outer: Scope | None) -> None:
        """`outer` is the scope around the SELECT, if it is a subquery itself."""
        self._builder = builder
        self._values = Subqueries(builder, outer)

    def filtered(self, source: Source, node: s.Expr | None) -> Source:
        """The source behind WHERE; subqueries in it become joins."""
        members = [self._pulled(source, member) for member in and_members(node)]
        joins = [member for member in members if _is_join(member) and not self._is_value(source, member)]
        others = [member for member in members if member not in joins]
        plain = [member for member in others if not has_subquery(member)]
        source = self._kept(source, plain)
        for member in joins:
            source = self._join(source, member)
        rest = [member for member in others if has_subquery(member)]
        return self._kept(self._values.attach_values(source, rest), rest)

    def _pulled(self, source: Source, node: s.Expr) -> s.Expr:
        """[NOT] EXISTS and [NOT] IN whose conditions stand where they are looked for."""
        if not _is_join(node):
            return node
        with source.scope.around():
            inner = node.args[0] if isinstance(node, s.Call) else node
            pulled = pulled_subquery(self._builder, source.scope, inner)
            pulled = read_values_in_join(self._builder, source, pulled)
            return replace(node, args=(pulled,)) if isinstance(node, s.Call) else pulled

    def _is_value(self, source: Source, node: s.Expr) -> bool:
        """Whether [NOT] EXISTS is known without its rows."""
        inner = node.args[0] if isinstance(node, s.Call) else node
        return isinstance(inner, s.ExistsQuery) and is_one_row(self._builder, source.scope, inner.query)

    def _join(self, source: Source, node: s.Expr) -> Source:
        """A semi or anti join for [NOT] EXISTS and [NOT] IN."""
        negated = isinstance(node, s.Call)
        inner = node.args[0] if isinstance(node, s.Call) else node
        with source.scope.around():
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

    def _kept(self, source: Source, members: list[s.Expr]) -> Source:
        converter = Converter(source.scope, self._builder.catalog, self._values.replace, clause="WHERE")
        condition = all_of([self._values.inner_only(converter.condition(each), each) for each in members])
        return source if condition is None else source.on(Filter(source.logical, condition))

    def _exists(self, source: Source, node: s.ExistsQuery) -> _Right:
        query = decorrelate(self._builder, source.scope, node.query)
        body = plain_select(query, self._builder.catalog)
        if body is not None:
            inner, correlated = split(self._builder, source, body)
            if correlated:
                return _right(source, inner.logical, [], correlated)
        plan = self._builder.subquery(query)
        marked = project(plan, [TRUE], ["EXPR$0"])
        return _Right(Aggregate(marked, (0,), (), marked.type, position=node.position), TRUE)

    def _in(self, source: Source, node: s.InQuery, negated: bool) -> _Right:
        left = Converter(source.scope, self._builder.catalog, self._values.replace, clause="IN")
        values = [left.convert(value) for value in node.values]
        query = decorrelate(self._builder, source.scope, node.query)
        body = plain_select(query, self._builder.catalog)
        correlated: list[Expression] = []
        if body is not None and not any(isinstance(item.expr, s.Star) for item in body.items):
            inner, correlated = split(self._builder, source, body)
            right = Converter(inner.scope, self._builder.catalog, clause="SELECT")
            members = [self._values.inner_only(right.convert(item.expr), item.expr) for item in body.items]
            plan: Logical = inner.logical
        else:
            plan = self._builder.subquery(query)
            members = refs(plan.type)
        if len(members) != len(values):
            raise SqlError(
                f"IN compares {counted(len(values), 'value')} with {counted(len(members), 'column')}",
                position=node.position,
                hint=guess_missing_comma(self._builder, node.query, len(values) - len(members)),
            )
        found = _right(source, plan, members, correlated)
        width = source.width
        columns = [InputRef(input_index=width + i, type=each.type) for i, each in enumerate(members)]
        equal = [_equal(node, v, c, negated) for v, c in zip(values, columns, strict=True)]
        rest = [] if found.condition == TRUE else [found.condition]
        return _Right(found.plan, all_of([*equal, *rest]) or TRUE)


def split(builder: Builder, source: Source, body: s.Select) -> tuple[Source, list[Expression]]:
    """FROM and WHERE of a subquery without the conditions that read the outer query, and those."""
    ttl = StateTtl(body.hints)
    inner = build_source(builder, body, ttl, source.scope)
    ttl.check()
    converter = Converter(inner.scope, builder.catalog, clause="WHERE")
    correlated, rest = [], []
    for member in and_members(body.where):
        found = None if has_subquery(member) else converter.condition(member)
        if found is not None and any(index < 0 for index in input_indexes(found)):
            correlated.append(found)
        else:
            rest.append(member)
    condition = None if not rest else rest[0] if len(rest) == 1 else s.Call("AND", tuple(rest))
    return Where(builder, source.scope).filtered(inner, condition), correlated


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
