"""The one list of intended changes: what released versions do otherwise than in the releases before, and why.

A plan made by an older release gives other rows where an entry concerns it; `rekindle check` and `upgrade` quote those.
Only what was plainly wrong is changed so: everything else gets a new version, and old plans keep their rows. A new
entry is a value in `INTENDED_CHANGES`, oldest release first (CONTRIBUTING.md, "An intended change").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from execnodes.core.expressions import AggregateCall, Call, Literal
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.types import LONG_DIGITS, Root
from execnodes.core.windowing import SlicedWindowing, Windowing


@dataclass(frozen=True, slots=True)
class IntendedChange:
    """A released version, or a part of the engine, that gives other rows since a release."""

    id: str
    """Words with hyphens; never changed, as users may look for it."""
    component: str
    """A node version (``stream-exec-calc_1``), a version of a function or an aggregate (``$CAST$1``), or a part of the
    engine in words; only the last one needs `concerns`."""
    since: str
    """The release that gives other rows first: ``1.5.0``."""
    before: str
    """What older releases gave: a sentence without full stop, as the two below."""
    now: str
    """What is given now."""
    reason: str
    """Why the old rows were plainly wrong."""
    program: str
    """What shows it: folder of a conformance program, or id of a test (file, ``::``, name)."""
    concerns: Callable[[ExecGraph, ExecNode], bool] | None = None
    """Which nodes of a plan, further to what `component` names; None: all of them."""
    concerns_call: Callable[[Call | AggregateCall], bool] | None = None
    """Which calls, where `component` is a version of a function; None: all of them."""


def _has_filter_above(graph: ExecGraph, node: ExecNode) -> bool:
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


def _makes_random_values(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether a node of a stream computes what differs each time, such as RAND."""
    from execnodes.common.batch import BatchNode
    from execnodes.functions import is_repeatable

    values = [getattr(node, name) for name in type(node).model_fields]
    members = [each for value in values for each in (value if isinstance(value, tuple) else (value,))]
    computed = (each for each in members if isinstance(each, Call))
    return not isinstance(node, BatchNode) and not all(map(is_repeatable, computed))


def _is_of_wide_decimals(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether an operator's rows have DECIMALs, which may be keys, of more digits than a BIGINT has."""
    fields = (field.type for each in graph.inputs_of(node) for field in each.output_type.fields)
    return bool(node.uids()) and any(t.root is Root.DECIMAL and t.precision > LONG_DIGITS for t in fields)


def _gives_windows_without_columns(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether a node aggregates windows, and nobody reads a column of what it gives."""
    from execnodes.stream.global_window_aggregate import GlobalWindowAggregate
    from execnodes.stream.group_window_aggregate import GroupWindowAggregate
    from execnodes.stream.window_aggregate import WindowAggregate

    aggregates = WindowAggregate | GlobalWindowAggregate | GroupWindowAggregate
    return isinstance(node, aggregates) and not node.output_type.fields


def _keeps_rows_of_sessions(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether a node finds sessions, whose rows it may keep until they end."""
    from execnodes.stream.window_aggregate import WindowAggregate
    from execnodes.stream.window_table_function import WindowTableFunction

    if not isinstance(node, WindowAggregate | WindowTableFunction):
        return False
    windowing = node.windowing
    return windowing.window.type == "SessionWindow" and windowing.strategy == "TimeAttribute"


def _counts_seconds(call: Call | AggregateCall) -> bool:
    """Whether a call turns a BIGINT of seconds into a time; other numbers are too small to matter."""
    if not isinstance(call, Call) or call.operands[0].type.root is not Root.BIGINT:
        return False
    widened = isinstance(call.operands[0], Call) and call.operands[0].internal_name.startswith("$CAST$")
    return not widened and all(not isinstance(each, Literal) or each.value != 3 for each in call.operands[1:])


def _is_of_doubles(call: Call | AggregateCall) -> bool:
    return call.type.root in (Root.FLOAT, Root.DOUBLE)


def _lags_over_nulls(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether a LAG has a default that is NOT NULL for values that may be NULL."""
    from execnodes.stream.over_aggregate.v1 import OverAggregate

    groups = node.over_spec.groups if isinstance(node, OverAggregate) else ()
    calls = (call for group in groups for call in group.agg_calls)
    return any(each.internal_name == "$LAG$1" and not each.type.nullable for each in calls)


def _waits_for_rows_of_several_depths(graph: ExecGraph, node: ExecNode) -> bool:
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


def _keeps_rows_by_time(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether a node sorts rows by event time, or keeps the first or the last of a key by it."""
    from execnodes.stream.deduplicate.v2 import Deduplicate
    from execnodes.stream.temporal_sort import TemporalSort

    if isinstance(node, TemporalSort):
        return bool(node.uids())
    return isinstance(node, Deduplicate) and node.is_rowtime


def _ends_windows_by_local_time(graph: ExecGraph, node: ExecNode) -> bool:
    """Whether windows of a node are of local time, in a zone other than UTC."""
    from execnodes.common.batch import BatchNode

    values = [getattr(node, name) for name in type(node).model_fields]
    windowings = [each for each in values if isinstance(each, Windowing | SlicedWindowing)]
    zoned = any(each.time_attribute_type.root is Root.TIMESTAMP_LTZ for each in windowings)
    zone = node.configuration.get("table.local-time-zone", "UTC")
    return zoned and bool(node.uids()) and not isinstance(node, BatchNode) and zone != "UTC"


_SESSIONS = "tests/kernels/test_session_windows.py::test_rows_of_sessions_that_grow_together_stand_as_they_came"
INTENDED_CHANGES: tuple[IntendedChange, ...] = (
    IntendedChange(
        id="seconds-beyond-timestamps",
        component="$TO_TIMESTAMP_LTZ$1",
        since="1.4.0",
        before="a BIGINT of seconds too large for a number of milliseconds gave a time near 1970",
        now="it gives NULL, as every number beyond the years 0 to 9999 does",
        reason="the product with 1000 went around, so that a wrong number looked like a right one",
        program="tests/net/test_functions.py::test_functions_give_what_was_recorded",
        concerns_call=_counts_seconds,
    ),
    IntendedChange(
        id="large-unix-times-are-printed",
        component="$FROM_UNIXTIME$1",
        since="1.4.0",
        before="a BIGINT of seconds too large for a number of milliseconds failed the job",
        now="it gives the text of what remains after the product with 1000 goes around, as in Flink",
        reason="one such number ended the job",
        program="tests/net/test_functions.py::test_functions_give_what_was_recorded",
        concerns_call=_counts_seconds,
    ),
    IntendedChange(
        id="rows-of-joined-sessions-are-aggregated-as-they-came",
        component="stream-exec-window-aggregate_2",
        since="1.4.0",
        before="values of sessions that a later row joined were taken session by session",
        now="LISTAGG and its kin take them as they came",
        reason="the order depended on where micro-batches were cut",
        program=_SESSIONS,
        concerns=_keeps_rows_of_sessions,
    ),
    IntendedChange(
        id="rows-of-joined-sessions-stand-as-they-came",
        component="stream-exec-window-table-function_2",
        since="1.4.0",
        before="rows of sessions that a later row joined were given session by session",
        now="they are given as they came",
        reason="the order depended on where micro-batches were cut",
        program=_SESSIONS,
        concerns=_keeps_rows_of_sessions,
    ),
    IntendedChange(
        id="filtered-rows-move-event-time",
        component="event time with table.exec.lateness.granularity = 'batch'",
        since="1.5.0",
        before="rows that a WHERE dropped did not move event time if the condition did not read the time column: "
        "windows came late or never, and bounded jobs did not end",
        now="every row of the source moves event time, whatever drops it later",
        reason="Spark moved the filter below the watermark, which SQL places directly after the source, so results "
        "depended on Spark's optimizer",
        program="tests/conformance/programs/window/filtered_last_row",
        concerns=_has_filter_above,
    ),
    IntendedChange(
        id="random-values-are-made-once",
        component="random values in streams: RAND, RAND_INTEGER, UUID and Python functions with deterministic = False",
        since="1.5.0",
        before="such a value was computed again at each place that read its column, so that a filter, a key and the "
        "result could see three values",
        now="it is computed once for a row, where the query makes it",
        reason="a column had several values in one row: WHERE r < 3 gave rows with r = 5",
        program="tests/runtime/test_random_values.py::test_a_random_value_is_made_once",
        concerns=_makes_random_values,
    ),
    IntendedChange(
        id="lag-gives-null-beside-a-default",
        component="stream-exec-over-aggregate_1",
        since="2.1.0",
        before="a NULL among the values of a LAG whose default is NOT NULL ended the job",
        now="LAG gives NULL for it",
        reason="one row without a value stopped the job",
        program="tests/batch/test_over.py::test_a_default_does_not_stand_for_null_in_a_stream",
        concerns=_lags_over_nulls,
    ),
    *(
        IntendedChange(
            id=f"{name}-takes-objects-that-repeat-a-key",
            component=component,
            since="2.0.0",
            before="a text in which an object has a key twice was no JSON",
            now="the last value of the key counts, as in Flink",
            reason="one repeated key took all other values of the text away",
            program="tests/functions/test_repeated_json_keys.py::test_the_last_value_of_a_key_counts",
        )
        for name, component in (
            ("json-value", "$JSON_VALUE$1"),
            ("json-query", "$JSON_QUERY$1"),
            ("json-query-2", "$JSON_QUERY$2"),
            ("json-exists", "$JSON_EXISTS$1"),
            ("json-exists-2", "$JSON_EXISTS$2"),
            ("is-json", "$IS JSON$1"),
            ("json", "$JSON$1"),
        )
    ),
    IntendedChange(
        id="wide-decimal-keys-are-one-key",
        component="keys of type DECIMAL with more than 18 digits",
        since="2.1.0",
        before="in 2.0 a key of less than one, such as 0.05 or 0.00, was another one in micro-batches of few rows than "
        "in large ones; a job's folder of 2.0 keeps them apart",
        now="it is one key in all of them",
        reason="one group had two results",
        program="tests/engine/test_reading.py::test_wide_keys_of_operators_are_the_same_however_they_are_read",
        concerns=_is_of_wide_decimals,
    ),
    IntendedChange(
        id="windows-without-columns-are-rows",
        component="windows of which no column is read, as in SELECT 1 FROM (SELECT COUNT(*) … GROUP BY window_end)",
        since="2.2.0",
        before="a micro-batch gave one row, whatever number of windows had ended, also none",
        now="each window is a row",
        reason="rows were lost or made up",
        program="tests/conformance/programs/window/without_columns",
        concerns=_gives_windows_without_columns,
    ),
    *(
        IntendedChange(
            id=f"{name}-of-one-nan-is-a-nan",
            component=component,
            since="2.2.0",
            before="where rows are taken back, a group whose one value is a NaN had a deviation of zero, and forgot it",
            now="it is a NaN, and so is what the group comes to later",
            reason="where no rows are taken back it was a NaN, as in Flink",
            program="tests/kernels/test_group_aggregate_values.py::test_a_nan_stays_where_rows_are_taken_back",
            concerns_call=_is_of_doubles,
        )
        for name, component in (
            ("var-pop", "$VAR_POP$1"),
            ("var-samp", "$VAR_SAMP$1"),
            ("stddev-pop", "$STDDEV_POP$1"),
            ("stddev-samp", "$STDDEV_SAMP$1"),
        )
    ),
    IntendedChange(
        id="windows-wait-for-rows-of-every-depth",
        component="windows over UNION ALL of windows of several depths",
        since="2.3.0",
        before="in 2.0 to 2.2 a window was given once for what came from windows, and again for what came from windows "
        "of windows, where these ended in a later micro-batch than the first",
        now="it is given once, of all rows",
        reason="each of its rows was of a part of the window",
        program="tests/conformance/programs/window/depths",
        concerns=_waits_for_rows_of_several_depths,
    ),
    IntendedChange(
        id="rows-without-an-event-time-fail",
        component="ORDER BY a time, and the first or last row of a key by event time, over rows whose time is NULL",
        since="2.5.0",
        before="ORDER BY left such rows out, a key whose last row had no time was never updated again, and the first "
        "row of a key ended in a traceback",
        now="the job fails, and names table, column and row: leave such rows out (WHERE ts IS NOT NULL) if they may be "
        "lost",
        reason="rows were lost without a word; Flink fails (RowTime field should not be null)",
        program="tests/runtime/test_null_times.py::test_a_row_without_a_time_fails",
        concerns=_keeps_rows_by_time,
    ),
    IntendedChange(
        id="windows-end-where-clocks-skip-any-time",
        component="windows of TIMESTAMP_LTZ that end in a time which the clocks of a zone skip",
        since="2.5.0",
        before="where more than an hour is skipped (Pacific/Apia, 2011-12-30) the job failed; where half an hour is "
        "(Australia/Lord_Howe), or a zone is half an hour away (America/St_Johns), such a window fired up to half an "
        "hour early, and rows that came then were late",
        now="it fires when the clock has moved, which all rows for it come before",
        reason="the job failed, or rows were lost",
        program="tests/kernels/test_local_times.py::"
        "test_a_window_that_ends_in_a_skipped_time_fires_when_the_clock_moves",
        concerns=_ends_windows_by_local_time,
    ),
)
