"""Which nodes and calls of a plan an intended change concerns."""

from __future__ import annotations

from collections.abc import Callable, Collection

from execnodes.core.expressions import AggregateCall, Call, Literal, walk
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.types import LONG_DIGITS, Root
from execnodes.core.windowing import SlicedWindowing, Windowing


def has_filter_above(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether rows of a watermark assigner with batch granularity are dropped before any state sees them."""
    from execnodes.stream.watermark_assigner import WatermarkAssigner

    if not isinstance(node, WatermarkAssigner) or node.state:
        return False
    waiting, seen = list(graph.consumers_of(node)), set[int]()
    while waiting:
        reader = waiting.pop()
        if _drops_rows(reader):
            return True
        if reader.id not in seen and not reader.uids():
            seen.add(reader.id)
            waiting += graph.consumers_of(reader)
    return False


def _drops_rows(node: ExecNode) -> bool:
    from execnodes.stream.calc import Calc
    from execnodes.stream.correlate import AnyCorrelate
    from execnodes.stream.python_async_calc import PythonAsyncCalc
    from execnodes.stream.python_calc import PythonCalc

    if isinstance(node, AnyCorrelate):
        return node.join_type != "LEFT"
    return isinstance(node, Calc | PythonCalc | PythonAsyncCalc) and node.condition is not None


def makes_random_values(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether a node of a stream computes what differs each time, such as RAND."""
    from execnodes.common.batch import BatchNode
    from execnodes.functions import is_repeatable

    values = [getattr(node, name) for name in type(node).model_fields]
    members = [each for value in values for each in (value if isinstance(value, tuple) else (value,))]
    computed = (each for each in members if isinstance(each, Call))
    return not isinstance(node, BatchNode) and not all(map(is_repeatable, computed))


def is_of_wide_decimals(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether an operator's rows have DECIMALs, which may be keys, of more digits than a BIGINT has."""
    fields = (field.type for each in graph.inputs_of(node) for field in each.output_type.fields)
    return bool(node.uids()) and any(t.root is Root.DECIMAL and t.precision > LONG_DIGITS for t in fields)


def gives_windows_without_columns(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether a node aggregates windows, and nobody reads a column of what it gives."""
    from execnodes.stream.global_window_aggregate import GlobalWindowAggregate
    from execnodes.stream.group_window_aggregate import GroupWindowAggregate
    from execnodes.stream.window_aggregate import WindowAggregate

    aggregates = WindowAggregate | GlobalWindowAggregate | GroupWindowAggregate
    return isinstance(node, aggregates) and not node.output_type.fields


def keeps_rows_of_sessions(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether a node finds sessions, whose rows it may keep until they end."""
    from execnodes.stream.window_aggregate import WindowAggregate
    from execnodes.stream.window_table_function import WindowTableFunction

    if not isinstance(node, WindowAggregate | WindowTableFunction):
        return False
    windowing = node.windowing
    return windowing.window.type == "SessionWindow" and windowing.strategy == "TimeAttribute"


def reads_format(*formats: str) -> Callable[[ExecGraph, ExecNode], bool]:
    """Whether a node reads a table of one of these formats, by what the plan itself says of the table."""

    def reads(graph: ExecGraph, node: ExecNode) -> bool:
        from execnodes.core.source_node import SourceNode

        if not isinstance(node, SourceNode):
            return False
        table = node.source.resolved_table
        options = {**((table.options if table else None) or {}), **node.source.hints}
        return any(value in formats for key, value in options.items() if key.endswith("format"))

    return reads


def counts_seconds(call: Call | AggregateCall) -> bool:
    """Whether a call turns a BIGINT of seconds into a time; other numbers are too small to matter."""
    if not isinstance(call, Call) or call.operands[0].type.root is not Root.BIGINT:
        return False
    widened = isinstance(call.operands[0], Call) and call.operands[0].internal_name.startswith("$CAST$")
    return not widened and all(not isinstance(each, Literal) or each.value != 3 for each in call.operands[1:])


def is_of_doubles(call: Call | AggregateCall) -> bool:
    """Whether a call gives a FLOAT or a DOUBLE."""
    return call.type.root in (Root.FLOAT, Root.DOUBLE)


def lags_over_nulls(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether a LAG has a default that is NOT NULL for values that may be NULL."""
    from execnodes.stream.over_aggregate.v1 import OverAggregate

    groups = node.over_spec.groups if isinstance(node, OverAggregate) else ()
    calls = (call for group in groups for call in group.agg_calls)
    return any(each.internal_name == "$LAG$1" and not each.type.nullable for each in calls)


def waits_for_rows_of_several_depths(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether windows are given rows of windows of windows, and others of fewer windows behind each other."""
    if "window" not in node.key.name or not node.uids():
        return False
    through = _windows_passed(graph)
    found = frozenset[int]().union(*(through[each.id] for each in graph.inputs_of(node)))
    return len(found) > 1 and max(found) > 1


def _windows_passed(graph: ExecGraph) -> dict[int, frozenset[int]]:
    """How many windows the rows of each node have gone through, by any way."""
    passed = dict[int, frozenset[int]]()
    for node in graph.nodes:
        above = [passed[each] for each in graph.inputs[node.id]]
        found = frozenset[int]().union(*above) if above else frozenset({0})
        waits = "window" in node.key.name and node.uids()
        passed[node.id] = frozenset({max(found) + 1}) if waits else found
    return passed


def compares_zeros(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether rows of a stateful operator have approximate numbers in nested values, or group by them."""
    from execnodes.core.predicates import holds_floats

    types = [field.type for each in graph.inputs_of(node) for field in each.output_type.fields if node.uids()]
    return any(map(holds_floats, types))


def joins_approximately(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether a join of a stream has a condition beside its keys, which may compare approximate numbers."""
    from execnodes.stream.interval_join import IntervalJoin
    from execnodes.stream.join import Join
    from execnodes.stream.window_join import WindowJoin

    if isinstance(node, IntervalJoin):
        condition = node.interval_join_spec.join_spec.non_equi_condition
    elif isinstance(node, Join | WindowJoin):
        condition = node.join_spec.non_equi_condition
    else:
        return False
    return condition is not None and any(each.type.root in (Root.FLOAT, Root.DOUBLE) for each in walk(condition))


def calls(*names: str, of: Collection[Root] = ()) -> Callable[[ExecGraph, ExecNode], bool]:
    """Whether a node calls one of these functions, with a result of one of these types if there are any."""

    def concerns(graph: ExecGraph, node: ExecNode) -> bool:
        values = [getattr(node, name) for name in type(node).model_fields]
        members = (each for value in values for each in (value if isinstance(value, tuple) else (value,)))
        expressions = (each for each in members if isinstance(each, Call))
        called = (each for expression in expressions for each in walk(expression) if isinstance(each, Call))
        return any(each.internal_name in names and (not of or each.type.root in of) for each in called)

    return concerns


def keeps_rows_by_time(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether a node sorts rows by event time, or keeps the first or the last of a key by it."""
    from execnodes.stream.deduplicate.v2 import Deduplicate
    from execnodes.stream.temporal_sort import TemporalSort

    if isinstance(node, TemporalSort):
        return bool(node.uids())
    return isinstance(node, Deduplicate) and node.is_rowtime


def ends_windows_by_local_time(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether windows of a node are of local time, in a zone other than UTC."""
    from execnodes.common.batch import BatchNode

    values = [getattr(node, name) for name in type(node).model_fields]
    windowings = [each for each in values if isinstance(each, Windowing | SlicedWindowing)]
    zoned = any(each.time_attribute_type.root is Root.TIMESTAMP_LTZ for each in windowings)
    zone = node.configuration.get("table.local-time-zone", "UTC")
    return zoned and bool(node.uids()) and not isinstance(node, BatchNode) and zone != "UTC"
