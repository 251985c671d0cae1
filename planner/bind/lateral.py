"""FROM: LATERAL (SELECT …) that reads the rows in front of it becomes a join, as Flink decorrelates it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, InputRef, Literal, input_indexes, remap, substitute
from execnodes.core.types import BIGINT, Field
from execnodes.functions import resolve
from planner import syntax as s
from planner.algebra import Aggregate, Filter, Join, JoinType, Logical, Project
from planner.algebra.columns import unique_names
from planner.algebra.join import joined_type
from planner.bind.aggregate import is_aggregated
from planner.bind.builder import Builder
from planner.bind.correlate import correlated, with_condition
from planner.bind.expression_binder import Converter, all_of, and_members, walk
from planner.bind.hints import StateTtl
from planner.bind.outer_names import OuterNames
from planner.bind.outer_values import read_outer_values
from planner.bind.pull_up import pulled_up
from planner.bind.relations import build_source
from planner.bind.scope import Relation, Scope
from planner.bind.select import list_columns
from planner.bind.source import TRUE, Source, project, refs, row_of
from planner.bind.subqueries import Key, Subqueries
from planner.bind.subquery_joins import split
from planner.bind.subquery_shapes import reads

_WHERE_ONLY = "Read the rows in front in WHERE, as inner = outer, and the rest behind the join."


def join_lateral(builder: Builder, left: Source, node: s.Join, right: s.Derived) -> Source | None:
    """The rows in front, each with those that the query makes of it; None if it does not read them."""
    query = pulled_up(builder, left.scope, _below(right.query))
    if isinstance(query.body, s.Select) and OuterNames(builder, left.scope).of(query.body.relation):
        query = pulled_up(builder, left.scope, right.query)
    if not isinstance(query.body, s.Select) or not isinstance(query.body.relation, s.Unnest):
        limited = query.fetch is not None or bool(query.offset)
        query = read_outer_values(builder, left, query, equal=limited, listed=node.kind == "LEFT")
    right, body = replace(right, query=query), query.body
    if query.with_items or not isinstance(body, s.Select) or body.relation is None:
        return None
    if isinstance(body.relation, s.Unnest) and reads(body.relation.collection, Scope(()), left.scope):
        _refuse(left, node, right)
        joined = correlated(builder, left, body.relation, node.kind == "LEFT")
        members = Source(joined.logical, Scope(joined.scope.relations[-1:], parent=left.scope))
        return _Lateral(builder, left, members, node, right, body).of_members()
    inner = build_source(builder, body, StateTtl(()), None)
    if not any(reads(each, inner.scope, left.scope) for each in _parts(body, query)):
        return None
    _refuse(left, node, right)
    return _Lateral(builder, left, inner, node, right, body).join()


class _Lateral:
    """One LATERAL that reads the rows in front of it."""

    def __init__(
        self, builder: Builder, left: Source, inner: Source, node: s.Join, right: s.Derived, body: s.Select
    ) -> None:
        self._builder, self._left, self._inner = builder, left, inner
        self._node, self._right, self._body = node, right, body
        self._is_left = node.kind == "LEFT"
        self._subqueries = Subqueries(builder, left.scope)

    def join(self) -> Source:
        """The join, by what the query does with the rows it finds."""
        body, query = self._body, self._right.query
        over = any(isinstance(e, s.Call) and e.over for item in body.items for e in walk(item.expr))
        if body.qualify is not None or over:
            raise SqlError(
                "functions OVER windows in a LATERAL query that reads the rows in front are not supported",
                position=self._right.position,
                hint="Write a join with a query that numbers its rows.",
            )
        aggregated = is_aggregated(body, query.order, self._builder.catalog)
        if not aggregated and not body.distinct and query.fetch is None and not query.offset:
            return self._plain()
        others = [item.expr for item in body.items] + _above(body) + [self._meant(item) for item in query.order]
        for each in others:
            if reads(each, self._inner.scope, self._left.scope):
                raise SqlError(
                    "a LATERAL query with aggregates, DISTINCT or LIMIT reads the rows in front only in WHERE",
                    position=each.position,
                    hint=_WHERE_ONLY,
                )
        keys = self._subqueries.correlation(self._left, body)
        lone = aggregated and body.group is None and len(body.items) == 1
        if lone and self._is_left and query.fetch != 0 and not query.offset:
            return self._total(keys)
        return self._by_keys(keys, aggregated)

    def of_members(self) -> Source:
        """Rows of a collection of the row in front: those of UNNEST, of which WHERE drops some."""
        body, query, plan = self._body, self._right.query, self._inner.logical
        above = body.distinct or body.qualify is not None or query.fetch is not None or query.offset
        over = any(isinstance(e, s.Call) and e.over for item in body.items for e in walk(item.expr))
        if above or over or is_aggregated(body, query.order, self._builder.catalog):
            raise SqlError(
                "a LATERAL query of a collection of the rows in front takes SELECT and WHERE alone",
                position=self._right.position,
                hint="Join UNNEST of the collection, and aggregate or number the rows behind it.",
            )

        def both(each: Expression) -> Expression:
            return remap(each, lambda index: -1 - index if index < 0 else index)

        inner, names, items = list_columns(self._builder, body, self._inner, self._subqueries)
        items = [both(each) for each in items]
        if inner.logical is not plan or (self._is_left and not all(isinstance(each, InputRef) for each in items)):
            raise SqlError(
                "columns of a LATERAL query of a collection are those of UNNEST",
                position=self._right.position,
                hint="Compute with them behind the join.",
            )
        conditions = []
        if body.where is not None:
            asked = Converter(inner.scope, self._builder.catalog, clause="WHERE").condition(body.where)
            conditions.append(both(asked))
        if self._is_left and self._node.condition is not None:
            fields = row_of(names, [each.type for each in items]).fields
            on = self._on(self._scope(self._alias_names(names), fields), self._node.condition)
            conditions.append(substitute(on, (*refs(plan.type)[: self._left.width], *items)))
        condition = all_of([each for each in conditions if each != TRUE])
        if condition is not None and self._is_left:
            plan = with_condition(plan, condition, self._right.position)
        elif condition is not None:
            plan = Filter(plan, condition)
        return self._output(plan, names, items)

    def _plain(self) -> Source:
        """Filters and columns alone: the conditions that read both sides are those of the join."""
        inner, correlated = split(self._builder, self._left, self._body)
        inner, names, items = list_columns(self._builder, self._body, inner, self._subqueries)
        outer = [each for each in items if _is_outer(each)]
        if outer and self._is_left:
            raise SqlError(
                "columns of LEFT JOIN LATERAL may not read the rows in front",
                position=self._right.position,
                hint=_WHERE_ONLY,
            )
        own = [each for each in items if not _is_outer(each)]
        read = sorted({i for each in (*correlated, *outer) for i in input_indexes(each) if i >= 0})
        columns = refs(inner.logical.type)
        fields = [inner.logical.type.fields[index].name for index in read]
        below: Logical = project(
            inner.logical,
            [*own, *(columns[index] for index in read)] or [TRUE],
            unique_names([*(f"$own{i}" for i in range(len(own))), *fields] or ["EXPR$0"]),
        )
        width = self._left.width
        places = {index: width + len(own) + i for i, index in enumerate(read)}

        def moved(each: Expression) -> Expression:
            return remap(each, lambda index: -1 - index if index < 0 else places[index])

        plan = self._joined(below, [moved(each) for each in correlated], names if self._is_left else [])
        given = iter(refs(plan.type)[width : width + len(own)])
        found = [moved(each) if _is_outer(each) else next(given) for each in items]
        return self._output(plan, names, found)

    def _by_keys(self, keys: list[Key], aggregated: bool) -> Source:
        """Aggregates, DISTINCT and Top-N: for each value of the columns by which rows are found, then a join by these.

        So a row in front for which nothing is found has no aggregates, either: an inner join drops it, as in Flink.
        """
        body, query = self._body, self._right.query
        rest = [each for each in and_members(body.where) if not any(each is key.member for key in keys)]
        condition = None if not rest else rest[0] if len(rest) == 1 else s.Call("AND", tuple(rest))
        inner = tuple(key.inner for key in keys)
        items = [*body.items, *(s.SelectItem(each, f"$key{i}") for i, each in enumerate(inner))]
        group = (*(body.group or ()), *inner) if aggregated else None
        if query.fetch is not None or query.offset:
            items.append(s.SelectItem(self._number(inner), "$rank"))
        whole = s.Query(
            replace(body, items=tuple(items), where=condition, group=group), position=self._right.query.position
        )
        plan = self._builder.query(whole, nested=True)
        shown = len(plan.type.fields) - len(items) + len(body.items)
        if query.fetch is not None or query.offset:
            plan = self._ranked(plan)
            if not aggregated and self._are_distinct(keys):
                return self._of_keys(plan, keys, shown)
        width, fields = self._left.width, plan.type.fields
        equal = [
            resolve("=", (key.outer, InputRef(input_index=width + shown + i, type=fields[shown + i].type)))
            for i, key in enumerate(keys)
        ]
        names = [field.name for field in fields[:shown]]
        joined = self._joined(plan, equal, names)
        return self._output(joined, names, refs(joined.type)[width : width + shown])

    def _total(self, keys: list[Key]) -> Source:
        """LEFT JOIN of one value that is aggregated of all rows that are found: there is one also where none is.

        Several values are NULL there, as Flink has it.
        """
        items = self._body.items
        source, values = self._subqueries.totals(self._left, self._body, keys)
        found = self._output(source.logical, [item.alias or f"EXPR${at}" for at, item in enumerate(items)], values)
        node = self._node
        on = None if node.condition is None else self._on(found.scope, node.condition)
        if on is None or on == TRUE:
            return found
        columns, width = refs(found.logical.type), self._left.width
        kept = [resolve("CASE", (on, each, _null(each)), position=node.position) for each in columns[width:]]
        return found.on(project(found.logical, [*columns[:width], *kept], [f.name for f in found.logical.type.fields]))

    def _number(self, keys: tuple[s.Expr, ...]) -> s.Call:
        """ROW_NUMBER among the rows that are found for one in front."""
        body, query = self._body, self._right.query
        if body.distinct or not query.order:
            what = "with DISTINCT" if body.distinct else "without ORDER BY"
            raise SqlError(
                f"LIMIT {what} in a LATERAL query that reads the rows in front is not supported",
                position=query.position,
                hint="Write a query in FROM with SELECT DISTINCT." if body.distinct else "Say which rows: ORDER BY.",
            )
        order = tuple(replace(each, expr=self._meant(each)) for each in query.order)
        return s.Call("ROW_NUMBER", over=s.WindowSpec(partition=keys, order=order), position=query.position)

    def _meant(self, item: s.OrderItem) -> s.Expr:
        """What ORDER BY names: a column of the list by its number or alias, or an expression."""
        items, expr = self._body.items, item.expr
        if isinstance(expr, s.Constant) and isinstance(expr.literal.value, int):
            if not 1 <= expr.literal.value <= len(items):
                raise SqlError(f"ORDER BY {expr.literal.value}: there are {len(items)} columns", position=item.position)
            return items[expr.literal.value - 1].expr
        if isinstance(expr, s.Name) and len(expr.parts) == 1:
            return next((each.expr for each in items if each.alias == expr.parts[0]), expr)
        return expr

    def _ranked(self, plan: Logical) -> Logical:
        """The rows whose number is asked for."""
        query, rank = self._right.query, refs(plan.type)[-1]
        bounds = [] if not query.offset else [(">", query.offset)]
        if query.fetch is not None:
            bounds.append(("<=", query.offset + query.fetch))
        conditions = [
            resolve(sign, (rank, Literal(value=value, type=BIGINT.not_null())), position=query.position)
            for sign, value in bounds
        ]
        return Filter(plan, all_of(conditions) or TRUE)

    def _are_distinct(self, keys: list[Key]) -> bool:
        """Whether in front stand the distinct keys of the very rows that the query reads, and nothing else."""
        distinct = self._left.logical
        if self._is_left or not isinstance(distinct, Aggregate) or distinct.calls or distinct.grouping_sets:
            return False
        below, outer = distinct.input, [key.outer for key in keys]
        if not isinstance(below, Project) or below.input != self._inner.logical or len(keys) != self._left.width:
            return False
        converter = Converter(self._inner.scope, self._builder.catalog, clause="WHERE")
        meant = {each.input_index: key for each, key in zip(outer, keys, strict=True) if isinstance(each, InputRef)}
        return len(meant) == len(keys) and all(
            below.expressions[distinct.grouping[at]] == converter.convert(key.inner) for at, key in meant.items()
        )

    def _of_keys(self, plan: Logical, keys: list[Key], shown: int) -> Source:
        """A Top-N for each key needs no join; as in Flink, rows whose key is NULL have one, too."""
        columns = refs(plan.type)
        places = {key.outer.input_index: shown + at for at, key in enumerate(keys) if isinstance(key.outer, InputRef)}
        front = self._left.logical.type.fields
        names = [field.name for field in front] + [field.name for field in plan.type.fields[:shown]]
        moved = [*(columns[places[at]] for at in range(len(front))), *columns[:shown]]
        made = project(plan, moved, unique_names(names))
        return self._output(made, names[len(front) :], refs(made.type)[len(front) :])

    def _joined(self, right: Logical, conditions: list[Expression], names: list[str]) -> Logical:
        """The join; of LEFT JOIN also the condition of ON, which may read the first columns, by these names."""
        left, kind = self._left.logical, JoinType.LEFT if self._is_left else JoinType.INNER
        type_ = joined_type(left.type, right.type, kind)
        node = self._node
        if self._is_left and node.condition is not None:
            scope = self._scope(self._alias_names(names), right.type.fields[: len(names)])
            on = self._on(scope, node.condition)
            conditions = conditions if on == TRUE else [*conditions, on]
        return Join(left, right, kind, all_of(conditions) or TRUE, type_, position=node.position)

    def _output(self, plan: Logical, names: list[str], values: list[Expression]) -> Source:
        """The columns in front and those of the query, by the names of its alias; of an inner join those ON keeps."""
        width = self._left.width
        names = self._alias_names(names)
        ours = [field.name for field in plan.type.fields[:width]]
        cut = project(plan, [*refs(plan.type)[:width], *values], unique_names([*ours, *names]))
        found = Source(cut, self._scope(names, cut.type.fields[width:]))
        return found if self._is_left else self._filtered(found)

    def _filtered(self, source: Source) -> Source:
        if self._node.condition is None:
            return source
        condition = self._on(source.scope, self._node.condition)
        return source if condition == TRUE else source.on(Filter(source.logical, condition))

    def _on(self, scope: Scope, node: s.Expr) -> Expression:
        return Converter(scope, self._builder.catalog, clause="ON").condition(node)

    def _scope(self, names: list[str], fields: Iterable[Field]) -> Scope:
        alias = self._right.alias.name if self._right.alias else None
        members = tuple(Field(name, field.type) for name, field in zip(names, fields, strict=True))
        width = self._left.width
        added = Relation(alias, members, tuple(range(width, width + len(members))))
        return Scope((*self._left.scope.relations, added), self._left.scope.merged)

    def _alias_names(self, names: list[str]) -> list[str]:
        columns = self._right.alias.columns if self._right.alias else ()
        if columns and len(columns) != len(names):
            raise SqlError(f"{len(columns)} column names for {len(names)} columns", position=self._right.position)
        return list(columns) or names


def _below(query: s.Query) -> s.Query:
    """The query in FROM of another one if it numbers rows: what it compares is then read above the windows."""
    body = query.body
    if not isinstance(body, s.Select) or not any(
        isinstance(each, s.Call) and each.over for item in body.items for each in walk(item.expr)
    ):
        return query
    star = s.SelectItem(s.Star(position=query.position))
    return s.Query(s.Select((star,), s.Derived(query, position=query.position)), position=query.position)


def _refuse(left: Source, node: s.Join, right: s.Derived) -> None:
    if node.kind in ("RIGHT", "FULL") or node.using or node.natural:
        kind = "NATURAL JOIN" if node.natural else "JOIN … USING" if node.using else f"{node.kind} JOIN"
        raise SqlError(
            f"{kind} of a LATERAL query that reads the rows in front is not supported",
            position=node.position,
            hint="Write CROSS or LEFT JOIN.",
        )
    if right.alias and right.alias.name in {each.alias for each in left.scope.relations}:
        raise SqlError(
            f"two relations are named '{right.alias.name}'", position=right.position, hint="Give one an alias."
        )


def _parts(body: s.Select, query: s.Query) -> list[s.Expr]:
    where = [] if body.where is None else [body.where]
    items = [item.expr for item in body.items]
    return [*where, *items, *_above(body), *(item.expr for item in query.order)]


def _above(body: s.Select) -> list[s.Expr]:
    """GROUP BY and HAVING."""
    keys = [each for each in body.group or () if not isinstance(each, s.GroupingSets)]
    sets = [key for each in body.group or () if isinstance(each, s.GroupingSets) for one in each.sets for key in one]
    return [*keys, *sets, *([] if body.having is None else [body.having])]


def _null(value: Expression) -> Expression:
    return Literal(value=None, type=value.type.with_nullable(True))


def _is_outer(expression: Expression) -> bool:
    return any(index < 0 for index in input_indexes(expression))
