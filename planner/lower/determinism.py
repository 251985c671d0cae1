"""Which columns of updates must have the same value whenever they are computed, from the sink down to the sources.

An update takes back the row that it replaces. Where that row is found by a column that RAND or NOW() computes, it is
not found. Rules are those of Flink's TRY_RESOLVE: a sink needs the columns by which it finds rows, an operator hands
on what it needs of its inputs, and a key by which the rows of an input are found anyway needs nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import singledispatch

from execnodes.core.errors import SqlError
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
    LookupJoin,
    Match,
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
from planner.lower.determinism_errors import column_error, condition_error, metadata_error
from planner.lower.merged_calc import Computed, MergedCalc, merge_calc
from planner.lower.rank import choose_rank_strategy
from planner.lower.table_specs import table_name
from planner.lower.varying_calls import VaryingCall, varying_aggregates, varying_calls

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
    """What is inside a compiled query is not looked at: it was checked when it was compiled, if that was asked for."""
    return []


@needs.register(SetOperation)
@needs.register(Sort)
@needs.register(WatermarkAssigner)
def _(node: Logical, columns: Columns, sink: Sink) -> list[Need]:
    return [Need(each, columns) for each in node.inputs]


@needs.register(Project)
@needs.register(Filter)
def _(node: Project | Filter, columns: Columns, sink: Sink) -> list[Need]:
    """Conditions that Flink makes part of what is below are checked as of that, and after the columns."""
    calc = merge_calc(node)
    read: Columns = _NONE
    if not calc.source.kinds.insert_only and columns:
        _reject_condition(calc, sink, inside=False)
        _reject_columns(node, {at: calc.columns[at].calls for at in sorted(columns)}, sink)
        read = _NONE.union(*(calc.columns[at].reads for at in columns))
    if any(not each.kinds.insert_only for each in calc.source.inputs):
        _reject_condition(calc, sink, inside=True)
    return [Need(calc.source, read)]


def _reject_condition(calc: MergedCalc, sink: Sink, *, inside: bool) -> None:
    conditions = (each for each in calc.conditions if _is_inside(each, calc.source) is inside)
    _reject_calls([call for each in conditions for call in each.calls], sink)


def _is_inside(condition: Computed, source: Logical) -> bool:
    """Of an inner join what reads both sides, of the state of an upsert source what reads more than its key."""
    match source:
        case Join(kind=JoinType.INNER):
            return len({at < len(source.left.type.fields) for at in condition.reads}) == 2
        case Normalize():
            return not condition.reads <= set(source.keys)
        case _:
            # Everything else leaves conditions where they are.
            return False


def _reject_calls(calls: Sequence[VaryingCall], sink: Sink) -> None:
    if calls:
        raise condition_error(calls, sink)


def _reject_columns(node: Logical, calls: Mapping[int, Sequence[VaryingCall]], sink: Sink) -> None:
    varying = [(node.type.fields[at].name, each) for at, each in calls.items() if each]
    if varying:
        raise column_error(varying, sink)


@needs.register
def _(node: Unnest, columns: Columns, sink: Sink) -> list[Need]:
    width = len(node.input.type.fields)
    if not node.input.kinds.insert_only and columns:
        if node.condition is not None:
            _reject_calls(varying_calls(node.condition), sink)
        calls = varying_calls(node.table)
        _reject_columns(node, {at: calls for at in sorted(columns) if at >= width}, sink)
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
    if node.input.kinds.insert_only:
        calls = enumerate(node.calls, len(node.grouping))
        _reject_columns(node, {at: varying_aggregates(call) for at, call in calls if at in columns}, sink)


@needs.register
def _(node: Join, columns: Columns, sink: Sink) -> list[Need]:
    inner = node.kind in (JoinType.INNER, JoinType.SEMI)
    if not inner or any(not each.kinds.insert_only for each in node.inputs):
        _reject_calls(varying_calls(node.condition), sink)
    return [_side(node.left, columns, 0), _side(node.right, columns, len(node.left.type.fields))]


def _side(side: Logical, columns: Columns, start: int) -> Need:
    """Without a key the rows of a side are found by all their columns."""
    own = frozenset(each - start for each in columns) & _all(side)
    return Need(side, own if side.upsert_keys else _all(side))


@needs.register
def _(node: LookupJoin, columns: Columns, sink: Sink) -> list[Need]:
    """What a table holds when a row is taken back may be something else than when it came."""
    if node.input.kinds.insert_only:
        return [Need(node.input)]
    raise SqlError(
        f"a lookup join of updates with {table_name(node.table)} finds other rows when a row is taken back than before",
        position=node.position,
        hint=f"Join before the rows are updated, or set '{STRATEGY}' to 'IGNORE'.",
    )


@needs.register
def _(node: WindowTableFunction, columns: Columns, sink: Sink) -> list[Need]:
    return _if_updated(node.input, columns & _all(node.input))


@needs.register
def _(node: Match, columns: Columns, sink: Sink) -> list[Need]:
    """Rows only come."""
    return [Need(node.input)]


@needs.register
def _(node: Over, columns: Columns, sink: Sink) -> list[Need]:
    width = len(node.input.type.fields)
    calls = {at: call for at, call in enumerate(node.calls, width) if at in columns}
    if node.input.kinds.insert_only:
        users = {at: varying_aggregates(call.user) for at, call in calls.items() if call.user is not None}
        _reject_columns(node, users, sink)
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
    if node.condition is not None:
        _reject_calls(varying_calls(node.condition), sink)
    return [Need(node.input, columns)]


def _check_scan(node: Scan, columns: Columns, sink: Sink, *, repeats: bool) -> None:
    if node.source_mode.upsert or repeats:
        return  # its rows go through a Normalize
    metadata = {column.name for column in node.table.table_schema.metadata}
    found = [name for at in sorted(columns) if (name := node.type.fields[at].name) in metadata]
    if found:
        raise metadata_error(found, node, sink)
