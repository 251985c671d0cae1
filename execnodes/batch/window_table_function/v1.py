"""Version 1 (1.0)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from execnodes.common.batch import BatchLowering, BatchNode, BatchRows, exploded
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.outputs import Outputs, in_windows
from execnodes.core.types import LogicalType, Root
from execnodes.core.windowing import Windowing

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


@exec_node_metadata(
    name="batch-exec-window-table-function",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["window"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class BatchWindowTableFunction(BatchNode):
    """Adds window_start, window_end and window_time to each row, and repeats rows that are in several windows."""

    windowing: Windowing
    """Strategy TimeAttribute."""

    @property
    def keeps_rows(self) -> bool:
        """Only sessions depend on other rows."""
        return self.windowing.window.type != "SessionWindow"

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The time that decides which windows a row is in."""
        return (self.windowing.required_times,)

    def lower_batch(self, batch: BatchLowering, inputs: tuple[BatchRows, ...]) -> BatchRows:
        """Bounds are computed row by row, those of sessions from the rows around."""
        rows = inputs[0]
        time = rows.columns[self.windowing.time_attribute_index or 0]
        local = f"from_utc_timestamp({time}, '{self._zone}')" if self._instant else f"CAST({time} AS TIMESTAMP)"
        timed = rows.frame.selectExpr("*", f"unix_micros({local}) AS rk_time")
        if self.windowing.window.type == "SessionWindow":
            bounds = [("rk_start", "rk_end")]
            timed = self._in_sessions(timed)
        else:
            bounds = list(self._bounds())
        texts = [[*rows.columns, *self._columns(start, end)] for start, end in bounds]
        given = replace(rows, frame=timed)
        if len(bounds) == 1 and not self._uneven:
            return given.project(self.output_type, texts[0])
        later = [f"{end} > rk_time" for _, end in bounds]
        return exploded(given, texts, self.output_type, later if self._cumulates or self._uneven else ())

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The input and, where it finds the windows itself, what is told of them."""
        return (
            in_windows(inputs[0], self.windowing)
            if self.windowing.strategy == "TimeAttribute"
            else super().outputs(inputs)
        )

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The window has its lengths, and the output is the input and three columns."""
        index, (size, step) = self.windowing.time_attribute_index, self._lengths()
        if index is None or index >= len(inputs[0].fields):
            raise self.fail("it must name the input column of the time attribute")
        if size <= 0 or step <= 0 or (self._cumulates and self._uneven):
            raise self.fail(f"the size of a {self.windowing.window.type} must be a positive multiple of its step")
        if len(self.output_type.fields) != len(inputs[0].fields) + 3:
            raise self.fail("its output must be the columns of its input, window_start, window_end and window_time")

    @property
    def _zone(self) -> str:
        return self.configuration.get("table.local-time-zone", "UTC")

    @property
    def _instant(self) -> bool:
        return self.windowing.time_attribute_type.root is Root.TIMESTAMP_LTZ

    @property
    def _uneven(self) -> bool:
        """Steps do not fill a window (a HOP in GROUP BY): some rows are in fewer windows than others, or in none."""
        size, step = self._lengths()
        return size % step != 0

    @property
    def _cumulates(self) -> bool:
        return self.windowing.window.type == "CumulativeWindow"

    def _lengths(self) -> tuple[int, int]:
        """Size and step in milliseconds; 0 where the window lacks one."""
        window = self.windowing.window
        match window.type:
            case "TumblingWindow":
                return window.size or 0, window.size or 0
            case "HoppingWindow":
                return window.size or 0, window.slide or 0
            case "CumulativeWindow":
                return window.max_size or 0, window.step or 0
            case "SessionWindow":
                return window.gap or 0, window.gap or 0

    def _bounds(self) -> Iterator[tuple[str, str]]:
        """Start and end, texts of local microseconds, of each window that a row may be in."""
        size, step = (1000 * each for each in self._lengths())
        cycle = size if self._cumulates else step
        shifted = f"rk_time - ({1000 * (self.windowing.window.offset or 0)})"
        first = f"(rk_time - pmod({shifted}, {cycle}))"
        if self._cumulates:
            yield from ((first, f"({first} + {length})") for length in range(step, size + step, step))
        else:
            yield from ((f"({first} - {back})", f"({first} + {size - back})") for back in range(0, size, step))

    def _in_sessions(self, frame: DataFrame) -> DataFrame:
        """A session goes on while no gap is longer than its own: columns rk_start and rk_end."""
        gap = 1000 * (self.windowing.window.gap or 0)
        keys = [f"c{each}" for each in self.windowing.window.partition_key_indices]
        ordered = f"PARTITION BY {', '.join(keys) or 'true'} ORDER BY rk_time"
        begins = f"CASE WHEN rk_time - lag(rk_time) OVER ({ordered}) <= {gap} THEN 0 ELSE 1 END AS rk_begins"
        counted = f"sum(rk_begins) OVER ({ordered} ROWS UNBOUNDED PRECEDING) AS rk_session"
        session = f"PARTITION BY {', '.join([*keys, 'rk_session'])}"
        start, end = f"min(rk_time) OVER ({session})", f"max(rk_time) OVER ({session}) + {gap}"
        marked = frame.selectExpr("*", begins).selectExpr("*", counted)
        return marked.selectExpr("*", f"{start} AS rk_start", f"{end} AS rk_end")

    def _columns(self, start: str, end: str) -> tuple[str, str, str]:
        """The three columns, from local microseconds."""
        last = f"timestamp_micros({end} - 1000)"
        # An instant again: the local time of the window's last millisecond, in the session's zone.
        time = f"to_utc_timestamp({last}, '{self._zone}')" if self._instant else f"CAST({last} AS TIMESTAMP_NTZ)"
        first, behind = (f"CAST(timestamp_micros({each}) AS TIMESTAMP_NTZ)" for each in (start, end))
        return first, behind, time
