"""Upsert keys: sets of columns by which a stream's updates can be applied, since a row and its successor agree on them.

A key is also unique among the rows that live at one time. The empty set means: there is at most one row.
Rules are those of Flink's `FlinkRelMdUpsertKeys`.
"""

from __future__ import annotations

from collections.abc import Iterable

from execnodes.core.expressions import Call, Expression, InputRef
from execnodes.core.types import INTEGERS, TEXTS, LogicalType, Root
from planner.logical import (
    Aggregate,
    Filter,
    Join,
    JoinType,
    Logical,
    Project,
    Scan,
    Sink,
    Sort,
    WatermarkAssigner,
    WindowTableFunction,
)
from planner.physical import CompiledQuery, Deduplicate, Normalize, WindowAggregate
from planner.time_attributes import END, START
from planner.tree import conjuncts, function_name, once_a_node

Key = frozenset[int]
_MOST_KEYS = 64


@once_a_node
def upsert_keys(node: Logical) -> frozenset[Key]:
    """Minimal keys of a node's output; none if rows can only be found by all their columns, or may occur twice.

    Of very many only the smallest: each join may multiply them.
    """
    found = list(_minimal(_keys(node)))
    if len(found) > _MOST_KEYS:
        found = sorted(found, key=lambda key: (len(key), sorted(key)))[:_MOST_KEYS]
    return frozenset(found)


def smallest(keys: Iterable[Key]) -> tuple[int, ...] | None:
    """The key with fewest columns, the leftmost of several; None without keys."""
    found = sorted((len(key), sorted(key)) for key in keys)
    return tuple(found[0][1]) if found else None


def _minimal(keys: Iterable[Key]) -> Iterable[Key]:
    kept = set(keys)
    return (key for key in kept if not any(other < key for other in kept))


def _keys(node: Logical) -> Iterable[Key]:
    match node:
        case Scan():
            return _of_table(node)
        case CompiledQuery():
            return () if node.key is None else {frozenset(node.key)}
        case Filter() | WatermarkAssigner() | Sort() | Sink():
            return upsert_keys(node.input)
        case Normalize() | Deduplicate():
            return {frozenset(node.keys)}
        case Project():
            return _through_project(node)
        case Aggregate(grouping_sets=()):
            return {frozenset(range(len(node.grouping)))}
        case WindowAggregate(grouping_sets=()):
            return _of_window_aggregate(node)
        case WindowTableFunction() if node.window.kind == "TUMBLE":
            return upsert_keys(node.input)
        case Join():
            return _of_join(node)
        case _:
            return ()


def _of_table(node: Scan) -> Iterable[Key]:
    key = node.table.table_schema.primary_key
    names = [field.name for field in node.type.fields]
    if key is None or not set(key.columns) <= set(names):
        return ()
    return {frozenset(names.index(each) for each in key.columns)}


def _of_window_aggregate(node: WindowAggregate) -> Iterable[Key]:
    first = len(node.grouping) + len(node.calls)
    bounds = [first + at for at, each in enumerate(node.properties) if each.property in (START, END)]
    return {frozenset({*range(len(node.grouping)), bound}) for bound in bounds}


def _through_project(node: Project) -> Iterable[Key]:
    places: dict[int, list[int]] = {}
    for at, each in enumerate(node.expressions):
        source = injective_source(each)
        if source is not None:
            places.setdefault(source, []).append(at)
    for key in upsert_keys(node.input):
        if all(each in places for each in key):
            yield frozenset(places[each][0] for each in key)
            yield frozenset(places[each][-1] for each in key)


def injective_source(expression: Expression) -> int | None:
    """The input column that the expression passes on so that different values stay different; None if it does not."""
    if isinstance(expression, InputRef):
        return expression.input_index
    if isinstance(expression, Call) and function_name(expression) == "CAST":
        inner, to = expression.operands[0].type, expression.type
        wider = inner.root in INTEGERS and to.root in INTEGERS and INTEGERS.index(inner.root) <= INTEGERS.index(to.root)
        return injective_source(expression.operands[0]) if wider or inner.same_values(to) else None
    return None


def join_keys(node: Join) -> tuple[tuple[tuple[int, int, bool], ...], tuple[Expression, ...]]:
    """(left column, right column from 0, NULL never matches) of each equality, and the rest of the condition."""
    width = len(node.left.type.fields)
    keys, rest = [], []
    for each in conjuncts(node.condition):
        pair = _key_pair(each, width)
        if pair is None:
            rest.append(each)
        elif pair not in keys:
            keys.append(pair)
    return tuple(keys), tuple(rest)


def _key_pair(condition: Expression, width: int) -> tuple[int, int, bool] | None:
    if not isinstance(condition, Call) or function_name(condition) not in ("=", "IS NOT DISTINCT FROM"):
        return None
    first, second = condition.operands
    if not isinstance(first, InputRef) or not isinstance(second, InputRef):
        return None
    if not _hash_alike(first.type, second.type):
        return None
    low, high = sorted((first.input_index, second.input_index))
    return (low, high - width, function_name(condition) == "=") if low < width <= high else None


def _hash_alike(left: LogicalType, right: LogicalType) -> bool:
    """Whether equal values of the two types can be found by one hash."""
    if left.root in TEXTS and right.root in TEXTS:
        return True
    if left.root is Root.DECIMAL and right.root is Root.DECIMAL:
        return left.with_nullable(True) == right.with_nullable(True)
    return left.root == right.root and left.children == right.children and left.fields == right.fields


def _of_join(node: Join) -> Iterable[Key]:
    """Keys of a side live on where each of its rows meets at most one row; together they are always a key."""
    pairs, _ = join_keys(node)
    lefts, rights = {left for left, _, _ in pairs}, {right for _, right, _ in pairs}
    left = {key for key in upsert_keys(node.left) if lefts <= key}
    if node.kind in (JoinType.SEMI, JoinType.ANTI):
        yield from left
        return
    width = len(node.left.type.fields)
    right = {key for key in upsert_keys(node.right) if rights <= key}
    if any(key <= rights for key in right) and node.kind in (JoinType.INNER, JoinType.LEFT):
        yield from left
    if any(key <= lefts for key in left) and node.kind in (JoinType.INNER, JoinType.RIGHT):
        yield from (_shifted(key, width) for key in right)
    yield from (mine | _shifted(its, width) for mine in left for its in right)


def _shifted(key: Key, width: int) -> Key:
    return frozenset(each + width for each in key)
