"""The one list of intended changes: what released versions do otherwise than in the releases before, and why.

A plan made by an older release gives other rows where an entry concerns it; `rekindle check` and `upgrade` quote those.
Only what was plainly wrong is changed so: everything else gets a new version, and old plans keep their rows. A new
entry is a value in `INTENDED_CHANGES`, oldest release first (CONTRIBUTING.md, "An intended change").
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from execnodes.concerned_nodes import (
    calls,
    compares_zeros,
    counts_seconds,
    ends_windows_by_local_time,
    gives_windows_without_columns,
    has_filter_above,
    is_of_doubles,
    is_of_wide_decimals,
    joins_approximately,
    keeps_rows_by_time,
    keeps_rows_of_sessions,
    lags_over_nulls,
    makes_random_values,
    reads_format,
    waits_for_rows_of_several_depths,
)
from execnodes.core.expressions import AggregateCall, Call
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.types import Root


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


_ZEROS = "tests/runtime/test_zeros_and_nans.py"
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
        concerns_call=counts_seconds,
    ),
    IntendedChange(
        id="large-unix-times-are-printed",
        component="$FROM_UNIXTIME$1",
        since="1.4.0",
        before="a BIGINT of seconds too large for a number of milliseconds failed the job",
        now="it gives the text of what remains after the product with 1000 goes around, as in Flink",
        reason="one such number ended the job",
        program="tests/net/test_functions.py::test_functions_give_what_was_recorded",
        concerns_call=counts_seconds,
    ),
    IntendedChange(
        id="rows-of-joined-sessions-are-aggregated-as-they-came",
        component="stream-exec-window-aggregate_2",
        since="1.4.0",
        before="values of sessions that a later row joined were taken session by session",
        now="LISTAGG and its kin take them as they came",
        reason="the order depended on where micro-batches were cut",
        program=_SESSIONS,
        concerns=keeps_rows_of_sessions,
    ),
    IntendedChange(
        id="rows-of-joined-sessions-stand-as-they-came",
        component="stream-exec-window-table-function_2",
        since="1.4.0",
        before="rows of sessions that a later row joined were given session by session",
        now="they are given as they came",
        reason="the order depended on where micro-batches were cut",
        program=_SESSIONS,
        concerns=keeps_rows_of_sessions,
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
        concerns=has_filter_above,
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
        concerns=makes_random_values,
    ),
    IntendedChange(
        id="lag-gives-null-beside-a-default",
        component="stream-exec-over-aggregate_1",
        since="2.1.0",
        before="a NULL among the values of a LAG whose default is NOT NULL ended the job",
        now="LAG gives NULL for it",
        reason="one row without a value stopped the job",
        program="tests/batch/test_over.py::test_a_default_does_not_stand_for_null_in_a_stream",
        concerns=lags_over_nulls,
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
        concerns=is_of_wide_decimals,
    ),
    IntendedChange(
        id="windows-without-columns-are-rows",
        component="windows of which no column is read, as in SELECT 1 FROM (SELECT COUNT(*) … GROUP BY window_end)",
        since="2.2.0",
        before="a micro-batch gave one row, whatever number of windows had ended, also none",
        now="each window is a row",
        reason="rows were lost or made up",
        program="tests/conformance/programs/window/without_columns",
        concerns=gives_windows_without_columns,
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
            concerns_call=is_of_doubles,
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
        concerns=waits_for_rows_of_several_depths,
    ),
    IntendedChange(
        id="zeros-are-one-key",
        component="keys, and values of DISTINCT and COLLECT, in streams that are approximate numbers or hold some",
        since="2.5.0",
        before="-0.0 and 0.0 inside a ROW, ARRAY or MAP were two keys, and a key alone was shown as it came first",
        now="they are one key, shown as 0.0; state of a key with a -0.0 inside it is not found any more",
        reason="GROUP BY d had one group and GROUP BY ROW(d) two, and batch mode one of both",
        program=f"{_ZEROS}::test_zeros_are_one_value_and_nans_another",
        concerns=compares_zeros,
    ),
    *(
        IntendedChange(
            id=f"{name.lower()}-of-zeros-and-nans",
            component=f"${name}$1",
            since="2.5.0",
            before="in streams it took the last one of 0.0 and -0.0, and left NaN out of account",
            now="it takes the first one, as in Flink and in batch mode, and NaN is the greatest number",
            reason="MIN and MAX of 0.0 and -0.0 were -0.0 both in streams, and 0.0 in batch mode",
            program=f"{_ZEROS}::test_zeros_are_one_value_and_nans_another",
            concerns_call=is_of_doubles,
        )
        for name in ("MIN", "MAX")
    ),
    IntendedChange(
        id="least-and-greatest-tell-zeros-apart",
        component="LEAST and GREATEST of FLOAT and DOUBLE",
        since="2.5.0",
        before="of 0.0 and -0.0 the first one was both the least and the greatest",
        now="-0.0 is the least and 0.0 the greatest, as in Flink",
        reason="LEAST(0.0, -0.0) was 0.0, and GREATEST(-0.0, 0.0) was -0.0",
        program=f"{_ZEROS}::test_functions_find_one_zero",
        concerns=calls("$LEAST$1", "$GREATEST$1", of=(Root.FLOAT, Root.DOUBLE)),
    ),
    IntendedChange(
        id="nan-is-not-equal-in-conditions-of-joins",
        component="conditions of joins in streams beside their keys",
        since="2.5.0",
        before="a NaN was equal to a NaN, and greater than every other number",
        now="a comparison with a NaN is FALSE, that by <> is TRUE, as in WHERE, in batch mode and in Flink",
        reason="a condition had another value in ON than in WHERE",
        program=f"{_ZEROS}::test_zeros_are_one_value_and_nans_another",
        concerns=joins_approximately,
    ),
    IntendedChange(
        id="overlay-of-great-lengths",
        component="OVERLAY … FOR a length",
        since="2.5.0",
        before="where start and length were beyond an INT together, the text was repeated after what was put in",
        now="nothing of it follows, as with every length beyond the end",
        reason="the sum went around to a negative number",
        program="tests/functions/test_positions.py::test_constants_are_those_of_flink",
        concerns=calls("$OVERLAY$1", "$OVERLAY$2", "$OVERLAY$3"),
    ),
    IntendedChange(
        id="instr-of-many-occurrences",
        component="INSTR with a number of occurrences",
        since="2.5.0",
        before="a number of occurrences near the greatest INT ended the job, as a list of so many was made",
        now="it is 0, as there are not so many",
        reason="one such number ended the job",
        program="tests/functions/test_positions.py::test_constants_are_those_of_flink",
        concerns=calls("$INSTR$2"),
    ),
    IntendedChange(
        id="json-values-are-what-was-written",
        component="tables of the formats json, debezium-json and canal-json",
        since="2.5.0",
        before="the text 1,5 was 15 as a DECIMAL, 128 was -128 as a TINYINT, a number in a STRING was written again "
        "(1.10 was 1.1), NaN without quotes, nan, inf and bytes that are not base64 were values, a MAP had a key "
        "twice, 2024-02-30T00:00:00 was a day of ISO 8601, an array of objects was a bad line, and with "
        "ignore-parse-errors half a character or a control character lost its row",
        now="values are those that Flink reads: a bad one fails the job or is NULL, a STRING of json has the digits of "
        "a number, the last value of a key counts, each object of an array is a row, 24:00:00 is a time",
        reason="values became others in silence",
        program="tests/formats/test_matrix.py::test_a_sample_of_odd_values",
        concerns=reads_format("json", "debezium-json", "canal-json"),
    ),
    IntendedChange(
        id="csv-values-are-what-was-written",
        component="tables of the format csv",
        since="2.5.0",
        before="nan, inf, bytes that are not base64 and DECIMALs with blanks around were values, text after a closing "
        "quote was one of the field, a blank field was ROW(NULL, …) or an ARRAY of one NULL, a quoted line end and "
        "days and times such as 2024-5-1 and 10:00 were bad",
        now="fields are those that Flink reads: a record may have several lines, a blank ROW is NULL and a blank ARRAY "
        "empty, 2024-5-1 and 10:00 are taken, the others fail the job or are NULL",
        reason="values became others in silence",
        program="tests/formats/test_matrix.py::test_a_sample_of_odd_values",
        concerns=reads_format("csv"),
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
        concerns=keeps_rows_by_time,
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
        concerns=ends_windows_by_local_time,
    ),
)
