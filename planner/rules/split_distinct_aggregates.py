"""DISTINCT aggregates by parts of groups, so that the rows of one key go to more than one task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from execnodes.aggregates import all_mergeable, function_of, resolve
from execnodes.core.errors import OptionError
from execnodes.core.expressions import AggregateCall, Expression, InputRef, Literal
from execnodes.core.options import Configuration
from execnodes.core.types import BOOLEAN, INT, Field, LogicalType, row
from execnodes.functions import resolve as resolve_function
from planner.algebra import Aggregate, Expand, Logical, Project, SplitAggregate
from planner.algebra.calls import columns_read, moved
from planner.algebra.columns import references
from planner.algebra.tree import Sinks, rewrite

SPLIT = "table.optimizer.distinct-agg.split.enabled"
BUCKETS = "table.optimizer.distinct-agg.split.bucket-num"
INCREMENTAL = "table.optimizer.incremental-agg-enabled"
_BY_VALUE = ("COUNT", "SUM", "$SUM0", "AVG")
"""Functions that take DISTINCT into account."""
_MOST = 2**31 - 1
_TOTALS = {"COUNT": "$SUM0", "SUM": "SUM", "$SUM0": "$SUM0", "MIN": "MIN", "MAX": "MAX"}
"""What makes a result of the results of parts."""


def split_distinct_aggregates(sinks: Sinks, configuration: Configuration) -> Sinks:
    """Put a bucket of the DISTINCT column below; aggregate by keys and bucket, then merge, in one operator or in two.

    Several DISTINCT columns have copies of the rows: in each one is told apart.
    """
    if not configuration.flag(SPLIT):
        return sinks
    number = int(configuration.get_option(BUCKETS))
    if not 1 <= number <= _MOST:
        raise OptionError(f"{BUCKETS}: {number} is no number of buckets", hint=f"Write a number from 1 to {_MOST}.")
    two_phases = configuration.get_option("table.optimizer.agg-phase-strategy") != "ONE_PHASE"
    incremental = two_phases and configuration.flag(INCREMENTAL)
    return rewrite(sinks, lambda node: _split(node, number, incremental))


def _split(node: Logical, number: int, incremental: bool) -> Logical:
    if type(node) is not Aggregate or node.grouping_sets or not all(_can_be_split(each) for each in node.calls):
        return node
    calls = tuple(each if _by_value(each) else _without_distinct(each) for each in node.calls)
    if not any(each.distinct for each in calls):
        return node
    parts = _parts(replace(node, calls=calls), number)
    retract = not node.input.kinds.insert_only
    if incremental and all_mergeable([_without_distinct(each) for each in calls], retract):
        return SplitAggregate(
            parts.input, parts.grouping, parts.calls, node.type, ttl=node.ttl, position=node.position,
            parts_by=parts.parts_by, partial_calls=parts.partial_calls,
        )  # fmt: skip
    return _two_levels(node, parts) or node


def _can_be_split(call: AggregateCall) -> bool:
    """Flink's list, but for functions whose result depends on the order of rows."""
    if not call.internal_name or function_of(call.internal_name).name not in (*_BY_VALUE, "MIN", "MAX"):
        return False
    return len(call.arg_list) <= 1


def _by_value(call: AggregateCall) -> bool:
    return call.distinct and function_of(call.internal_name).name in _BY_VALUE


def _without_distinct(call: AggregateCall) -> AggregateCall:
    return call.model_copy(update={"distinct": False})


@dataclass(frozen=True)
class _Parts:
    """An input with columns that tell parts apart, and the aggregate's own over it."""

    input: Logical
    grouping: tuple[int, ...]
    parts_by: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    partial_calls: tuple[AggregateCall, ...]


def _parts(node: Aggregate, number: int) -> _Parts:
    source = node.input.type.fields
    used = sorted({*node.grouping, *columns_read(node.calls)})
    there = {each: at for at, each in enumerate(used)}
    grouping, calls = tuple(there[each] for each in node.grouping), moved(node.calls, there)
    columns = references(node.input.type, used)
    values = list(dict.fromkeys(each.arg_list[0] for each in node.calls if each.distinct))
    buckets = [_bucket(each, source[each].type, number) for each in values]
    kept = [source[each] for each in used]
    bucket = Field("$bucket", INT.not_null())
    if len(values) == 1:
        type = row(*kept, bucket)
        return _Parts(Project(node.input, (*columns, buckets[0]), type), grouping, (len(used),), calls, calls)
    # Each call counts the rows of one copy: the one of its DISTINCT column, else the first.
    owners = [(values.index(each.arg_list[0]) if each.distinct else 0, each.filter_arg) for each in node.calls]
    filters = list(dict.fromkeys(owners))
    projects = tuple(
        (*columns, *(_filter(owner == copy, at, node) for owner, at in filters), _number(copy), bucket_of_copy)
        for copy, bucket_of_copy in enumerate(buckets)
    )
    flags = [Field(f"$filter{at}", BOOLEAN) for at in range(len(filters))]
    type = row(*kept, *flags, Field("$e", INT.not_null()), bucket)
    behind = len(used) + len(filters)
    partial = tuple(
        _filtered(call, len(used) + filters.index(owner), type) for call, owner in zip(calls, owners, strict=True)
    )
    return _Parts(Expand(node.input, projects, type), grouping, (behind, behind + 1), calls, partial)


def _bucket(column: int, type: LogicalType, number: int) -> Expression:
    value = InputRef(input_index=column, type=type)
    return resolve_function("HASH_BUCKET", (value, _number(number)))


def _number(value: int) -> Literal:
    return Literal(value=value, type=INT.not_null())


def _filter(own: bool, column: int, node: Aggregate) -> Expression:
    if own and column >= 0:
        return InputRef(input_index=column, type=node.input.type.fields[column].type)
    return Literal(value=own, type=BOOLEAN)


def _filtered(call: AggregateCall, column: int, type: LogicalType) -> AggregateCall:
    return call.model_copy(update={"filter_arg": column, "type": _type(call, _arguments(call, type), filtered=True)})


def _arguments(call: AggregateCall, type: LogicalType) -> tuple[LogicalType, ...]:
    return tuple(type.fields[each].type for each in call.arg_list)


def _type(call: AggregateCall, arguments: Sequence[LogicalType], filtered: bool) -> LogicalType:
    name = function_of(call.internal_name).name
    return resolve(name, tuple(arguments), distinct=call.distinct, filtered=filtered)[1]


def _two_levels(node: Aggregate, parts: _Parts) -> Aggregate | None:
    """An aggregate over the results of the parts; None where these do not make the results."""
    keys, by = len(parts.grouping), (*parts.grouping, *parts.parts_by)
    below = parts.input.type.fields
    results = [Field(call.name, call.type) for call in parts.partial_calls]
    type = row(*(below[each] for each in by), *results)
    partial = Aggregate(parts.input, by, parts.partial_calls, type, ttl=node.ttl, position=node.position)
    totals = []
    for at, call in enumerate(parts.partial_calls, len(by)):
        name = _TOTALS.get(function_of(call.internal_name).name)
        if name is None:
            return None
        internal, result = resolve(name, (call.type,), grouped=bool(keys))
        totals.append(AggregateCall(name=call.name, internal_name=internal, arg_list=(at,), type=result))
    if [each.type for each in totals] != [each.type for each in node.calls]:
        return None
    return replace(node, input=partial, grouping=tuple(range(keys)), calls=tuple(totals))
