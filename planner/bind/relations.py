"""FROM: tables, subqueries and joins, with the names each gives."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Expression, InputRef, remap, transform
from execnodes.core.places import place
from execnodes.core.types import Field, LogicalType
from execnodes.functions import resolve
from planner import syntax as s
from planner.algebra import Join, JoinType
from planner.algebra.join import joined_type
from planner.bind.builder import Builder
from planner.bind.correlate import correlated, join_correlated, reads_rows_in_front
from planner.bind.expression_binder import Converter, all_of
from planner.bind.hints import StateTtl
from planner.bind.lookups import build_versions
from planner.bind.match import build_match
from planner.bind.scope import Relation, Scope
from planner.bind.source import TRUE, Source, single_row
from planner.bind.windows import is_window_function, window_function
from planner.bind.written import locate
from planner.limits import check_relations


def build_source(builder: Builder, node: s.Select, ttl: StateTtl, outer: Scope | None) -> Source:
    """FROM of a SELECT, seen from inside a query with the scope `outer`."""
    relation = node.relation
    if relation is None:
        source = single_row()
    elif node.hints:
        source = build_relation(builder, relation, ttl)
    else:
        source = builder.once((relation,), lambda: build_relation(builder, relation, ttl))
    if outer is None:
        return source
    return Source(source.logical, Scope(source.scope.relations, source.scope.merged, outer), source.name)


def build_relation(builder: Builder, node: s.Relation, ttl: StateTtl) -> Source:
    """The source of a relation."""
    match node:
        case s.TableName():
            return builder.table(node)
        case s.Derived():
            return builder.derived(node)
        case s.TableFunction() if is_window_function(node):
            return window_function(builder, node)
        case s.TableFunction() | s.Unnest():
            return correlated(builder, single_row(), node, False)
        case s.MatchRecognize():
            return build_match(builder, node, build_relation(builder, node.relation, ttl))
        case s.Join():
            return _join(builder, _in_reach(node), ttl)


def _join(builder: Builder, node: s.Join, ttl: StateTtl) -> Source:
    left = build_relation(builder, node.left, ttl)
    check_relations(len(left.scope.relations) + 1, node.position)
    if reads_rows_in_front(node.right):
        return join_correlated(builder, left, node, node.right)
    with left.scope.around():
        if isinstance(node.right, s.Derived) and node.right.lateral:
            found = builder.lateral(left, node, node.right)
            if found is not None:
                return found
        time = node.right.as_of if isinstance(node.right, s.TableName) else None
        if time is not None:
            right, as_of = build_versions(builder, left, node)
        else:
            right, as_of = build_relation(builder, node.right, ttl), None
    shifted = _shifted(right.scope, left.width)
    scope = Scope(left.scope.relations + shifted.relations, left.scope.merged + shifted.merged)
    _refuse_same_alias(left, right, node)
    shared = _shared_columns(node, left, right)
    if shared:
        condition, scope = _using(node, left.scope, shifted, scope, shared)
    else:
        condition = TRUE if node.condition is None else _condition(builder, scope, node.condition)
    kind = JoinType.INNER if node.kind == "CROSS" else JoinType(node.kind)
    type_ = joined_type(left.logical.type, right.logical.type, kind)
    plan = Join(
        left.logical,
        right.logical,
        kind,
        condition,
        type_,
        (ttl.of(left.name), ttl.of(right.name)),
        node.position,
        looks_up=time is not None and as_of is None,
        as_of=as_of,
        place=place(node.position.line, node.position.column, "JOIN") if time is None else locate(time),
    )
    return Source(plan, _retyped(scope, type_))


def _in_reach(node: s.Join) -> s.Join:
    """``a, f(a.x) JOIN b`` as ``(a, f(a.x)) JOIN b``: what reads rows in front of it stands right behind them."""
    joins, leaf = list[s.Join](), node.right
    while isinstance(leaf, s.Join) and leaf.kind not in ("RIGHT", "FULL"):
        joins.append(leaf)
        leaf = leaf.left
    lateral = isinstance(leaf, s.Derived) and leaf.lateral
    if node.kind != "CROSS" or not joins or not (lateral or reads_rows_in_front(leaf)):
        return node
    found = replace(node, right=leaf)
    for each in reversed(joins):
        found = replace(each, left=found)
    return found


def _condition(builder: Builder, scope: Scope, node: s.Expr) -> Expression:
    return Converter(scope, builder.catalog, clause="ON").condition(node)


def _refuse_same_alias(left: Source, right: Source, node: s.Join) -> None:
    taken = {relation.alias for relation in left.scope.relations if relation.alias}
    for relation in right.scope.relations:
        if relation.alias in taken:
            raise SqlError(
                f"two relations are named '{relation.alias}'", position=node.right.position, hint="Give one an alias."
            )


def _shifted(scope: Scope, by: int) -> Scope:
    """The scope of a right input among the columns of the join."""
    merged = tuple((name, remap(each, lambda index: index + by)) for name, each in scope.merged)
    return Scope(tuple(relation.shifted(by) for relation in scope.relations), merged)


def _shared_columns(node: s.Join, left: Source, right: Source) -> tuple[str, ...]:
    if node.using:
        return node.using
    if not node.natural:
        return ()
    theirs = {field.name for relation in right.scope.relations for field in relation.fields}
    ours = [field.name for relation in left.scope.relations for field in relation.fields]
    return tuple(name for name in dict.fromkeys(ours) if name in theirs)


def _using(node: s.Join, left: Scope, right: Scope, both: Scope, names: tuple[str, ...]) -> tuple[Expression, Scope]:
    """The condition of USING, and the scope in which each shared column occurs once."""
    conditions, merged = [], []
    for name in names:
        ours, theirs = (_shared(each, side, name, node) for each, side in ((left, "left"), (right, "right")))
        conditions.append(resolve("=", (ours, theirs), position=node.position))
        merged.append((name, _merged(node, ours, theirs)))
    others = [(name, expression) for name, expression in both.merged if name not in names]
    hidden = tuple(replace(relation, hidden=relation.hidden | set(names)) for relation in both.relations)
    return all_of(conditions) or TRUE, Scope(hidden, (*merged, *others))


def _shared(scope: Scope, side: str, name: str, node: s.Join) -> Expression:
    try:
        return scope.resolve(s.Name((name,), position=node.position))
    except SqlError as error:
        error.message = f"USING on the {side} side: {error.message}"
        raise


def _merged(node: s.Join, ours: Expression, theirs: Expression) -> Expression:
    """The one column a USING join shows: the side that is never padded with NULL; either of a FULL join."""
    if node.kind == "FULL":
        nullable = [each.model_copy(update={"type": each.type.with_nullable(True)}) for each in (ours, theirs)]
        return resolve("COALESCE", nullable, position=node.position)
    if node.kind == "RIGHT" or (node.kind != "LEFT" and ours.type.nullable and not theirs.type.nullable):
        return theirs
    return ours


def _retyped(scope: Scope, type_: LogicalType) -> Scope:
    """The scope with the types columns have behind a join."""

    def typed(relation: Relation) -> Relation:
        fields = tuple(
            Field(field.name, type_.fields[index].type)
            for field, index in zip(relation.fields, relation.indexes, strict=True)
        )
        return replace(relation, fields=fields)

    def column(each: Expression) -> Expression | None:
        return (
            InputRef(input_index=each.input_index, type=type_.fields[each.input_index].type)
            if isinstance(each, InputRef)
            else None
        )

    merged = tuple((name, transform(expression, column)) for name, expression in scope.merged)
    return Scope(tuple(typed(relation) for relation in scope.relations), merged)
