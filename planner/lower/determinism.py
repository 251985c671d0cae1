"""Which columns of updates must have the same value whenever they are computed, from the sink down to the sources.

An update takes back the row that it replaces. Where that row is found by a column that RAND or NOW() computes, it is
not found. Rules are those of Flink's TRY_RESOLVE: a sink needs the columns by which it finds rows, an operator hands
on what it needs of its inputs, and a key by which the rows of an input are found anyway needs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import singledispatch

from execnodes.core.expressions import input_indexes
from execnodes.core.options import Configuration
from planner.algebra import (
    Aggregate,
    CompiledQuery,
    Deduplicate,
    Expand,
    Filter,
    Join,
    JoinType,
    Logical,
    Normalize,
    Over,
    Project,
    Rank,
    Scan,
    SetOperation,
    Sink,
    Sort,
    Unnest,
    Values,
    WatermarkAssigner,
    WindowAggregate,
    WindowTableFunction,
)
from planner.algebra.keys import Key
from planner.algebra.predicates import conjuncts
from planner.lower.determinism_errors import column_error, condition_error, metadata_error
from planner.lower.merged_calc import Computed, MergedCalc, merge_calc
from planner.lower.rank import choose_rank_strategy
from planner.lower.varying_calls import varying_aggregates, varying_calls

STRATEGY = "table.optimizer.non-deterministic-update.strategy"
Columns = frozenset[int]
_NONE: Columns = frozenset()


@dataclass(frozen=True, slots=True)
class Need:
    """Columns of an operator that must have the same value whenever they are computed."""

    node: Logical
    columns: Columns = _NONE


def check_determinism(sink: Sink, key: Key | None, configuration: Configuration) -> None:
    """SqlError for a column or condition that varies and by which updates are found; `key`: of a sink that finds rows
    by it, None for one that finds them by all columns.
    """
    if configuration.get_option(STRATEGY) != "TRY_RESOLVE":
        return
    repeats = configuration.flag("table.exec.source.cdc-events-duplicate")
    left, seen = [_reduce(Need(sink.input, _all(sink.input) if key is None else key))], set[tuple[int, Columns]]()
    while left:
        need = left.pop()
        if (id(need.node), need.columns) in seen:
            continue
        seen.add((id(need.node), need.columns))
        if isinstance(need.node, Scan):
            _check_scan(need.node, need.columns, sink, repeats=repeats)
        left.extend(reversed([_reduce(each) for each in needs(need.node, need.columns, sink)]))


def _reduce(need: Need) -> Need:
    """What is left if rows are found by the upsert key that covers most of it; nothing of rows that are only added."""
    if need.node.kinds.insert_only:
        return Need(need.node)
    keys = sorted(need.node.upsert_keys, key=sorted)
    return Need(need.node, min((need.columns - key for key in keys), key=len, default=need.columns))


def _all(node: Logical) -> Columns:
    return frozenset(range(len(node.type.fields)))


def _if_updated(node: Logical, columns: Iterable[int]) -> list[Need]:
    return [Need(node, _NONE if node.kinds.insert_only else frozenset(columns))]


@singledispatch
def needs(node: Logical, columns: Columns, sink: Sink) -> list[Need]:
    """What an operator needs of its inputs for these columns of its own; SqlError if it makes one that varies."""
    raise NotImplementedError(f"{type(node).__name__} does not say which columns of its inputs must not vary")


@needs.register(Values)
@needs.register(CompiledQuery)
@needs.register(Scan)
def _(node: Logical, columns: Columns, sink: Sink) -> list[Need]:
    return []


@needs.register(SetOperation)
@needs.register(Sort)
@needs.register(WatermarkAssigner)
def _(node: Logical, columns: Columns, sink: Sink) -> list[Need]:
    return [Need(each, columns) for each in node.inputs]


@needs.register(Project)
@needs.register(Filter)
def _(node: Project | Filter, columns: Columns, sink: Sink) -> list[Need]:
    calc = merge_calc(node)
    if isinstance(calc.source, Normalize):
        _check_normalized(calc, calc.source, sink)
    elif isinstance(calc.source, Join) and calc.source.kind is JoinType.INNER:
        calc = _move_into_join(calc, calc.source, columns, sink)
    if calc.source.kinds.insert_only or not columns:
        return [Need(calc.source)]
    selecting = [call for each in calc.conditions for call in each.calls]
    if selecting:
        raise condition_error(selecting, sink)
    varying = {node.type.fields[at].name: calc.columns[at].calls for at in sorted(columns) if calc.columns[at].calls}
    if varying:
        raise column_error(varying, sink)
    return [Need(calc.source, _NONE.union(*(calc.columns[at].reads for at in columns)))]


def _move_into_join(calc: MergedCalc, below: Join, columns: Columns, sink: Sink) -> MergedCalc:
    """In Flink conditions above an inner join are its own; the calc without them."""
    read = _NONE.union(*(calc.columns[at].reads for at in columns))
    for each in calc.conditions:
        if each.reads:
            _check_join_condition(below, each, _reduce(Need(below, read)).columns, sink)
    return replace(calc, conditions=tuple(each for each in calc.conditions if not each.reads))


def _check_normalized(calc: MergedCalc, below: Normalize, sink: Sink) -> None:
    """In Flink the state behind an upsert source drops rows by itself, but for conditions on its key."""
    for each in calc.conditions:
        if each.calls and not each.reads <= set(below.keys):
            raise condition_error(each.calls, sink)


@needs.register
def _(node: Unnest, columns: Columns, sink: Sink) -> list[Need]:
    width = len(node.input.type.fields)
    if not node.input.kinds.insert_only and columns:
        calls = [] if node.condition is None else varying_calls(node.condition)
        if calls:
            raise condition_error(calls, sink)
        calls, own = varying_calls(node.table), sorted(each for each in columns if each >= width)
        if calls and own:
            raise column_error({node.type.fields[at].name: calls for at in own}, sink)
    return _if_updated(node.input, (each for each in columns if each < width))


@needs.register
def _(node: Expand, columns: Columns, sink: Sink) -> list[Need]:
    read: set[int] = set().union(*(input_indexes(some[each]) for some in node.projects for each in columns))
    return _if_updated(node.input, read)


@needs.register
def _(node: Aggregate, columns: Columns, sink: Sink) -> list[Need]:
    _check_aggregates(node, columns, sink)
    return _if_updated(node.input, _all(node.input))


@needs.register
def _(node: WindowAggregate, columns: Columns, sink: Sink) -> list[Need]:
    _check_aggregates(node, columns, sink)
    return _if_updated(node.input, _all(node.input))


def _check_aggregates(node: Aggregate | WindowAggregate, columns: Columns, sink: Sink) -> None:
    first = len(node.grouping)
    varying = {
        node.type.fields[at].name: calls
        for at, call in enumerate(node.calls, first)
        if at in columns and (calls := varying_aggregates(call))
    }
    if varying and node.input.kinds.insert_only:
        raise column_error(varying, sink)


@needs.register
def _(node: Join, columns: Columns, sink: Sink) -> list[Need]:
    width = len(node.left.type.fields)
    for each in conjuncts(node.condition):
        _check_join_condition(node, Computed(varying_calls(each), frozenset(input_indexes(each))), columns, sink)
    return [_side(node.left, columns, 0), _side(node.right, columns, width)]


def _side(side: Logical, columns: Columns, start: int) -> Need:
    """Without a key the rows of a side are found by all their columns."""
    own = frozenset(each - start for each in columns) & _all(side)
    return _reduce(Need(side, own if side.upsert_keys else _all(side)))


def _check_join_condition(node: Join, part: Computed, columns: Columns, sink: Sink) -> None:
    """A condition on one side alone is one of the rows of that side, as in Flink, which moves it below the join."""
    width, inner = len(node.left.type.fields), node.kind in (JoinType.INNER, JoinType.SEMI)
    sides = {each < width for each in part.reads}
    if sides == {True} and (inner or node.kind is JoinType.RIGHT):
        varies = bool(_side(node.left, columns, 0).columns)
    elif sides == {False} and (inner or node.kind in (JoinType.LEFT, JoinType.ANTI)):
        varies = bool(_side(node.right, columns, width).columns)
    else:
        varies = not inner or not all(each.kinds.insert_only for each in node.inputs)
    if part.calls and varies:
        raise condition_error(part.calls, sink)


@needs.register
def _(node: WindowTableFunction, columns: Columns, sink: Sink) -> list[Need]:
    return _if_updated(node.input, columns & _all(node.input))


@needs.register
def _(node: Over, columns: Columns, sink: Sink) -> list[Need]:
    width = len(node.input.type.fields)
    calls = {at: call for at, call in enumerate(node.calls, width) if at in columns}
    if node.input.kinds.insert_only:
        varying = {
            node.type.fields[at].name: found
            for at, call in calls.items()
            if call.user is not None and (found := varying_aggregates(call.user))
        }
        if varying:
            raise column_error(varying, sink)
        return [Need(node.input)]
    read = {at for call in calls.values() for arg in call.args for at in input_indexes(arg)}
    return _if_updated(node.input, {*(columns & _all(node.input)), *node.partition, *_order(node), *read})


def _order(node: Over | Rank) -> Iterator[int]:
    return (each.index for each in node.order)


@needs.register
def _(node: Rank, columns: Columns, sink: Sink) -> list[Need]:
    """Where updates only move rows forward they are found by partition and order; else by all columns."""
    own = columns & _all(node.input)
    if node.bounds is not None:
        return _if_updated(node.input, own | set(node.partition))
    if choose_rank_strategy(node.input, node.partition, node.order).type == "UpdateFast":
        return _if_updated(node.input, own - {*node.partition, *_order(node)})
    return _if_updated(node.input, _all(node.input))


@needs.register
def _(node: Deduplicate, columns: Columns, sink: Sink) -> list[Need]:
    return _if_updated(node.input, _all(node.input))


@needs.register
def _(node: Normalize, columns: Columns, sink: Sink) -> list[Need]:
    if node.condition is not None and (calls := varying_calls(node.condition)):
        raise condition_error(calls, sink)
    return [Need(node.input, columns)]


def _check_scan(node: Scan, columns: Columns, sink: Sink, *, repeats: bool) -> None:
    if node.source_mode.upsert or repeats:
        return  # its rows go through a Normalize
    metadata = {column.name for column in node.table.table_schema.metadata}
    found = [name for at in sorted(columns) if (name := node.type.fields[at].name) in metadata]
    if found:
        raise metadata_error(found, node, sink)
