"""Version 1 (1.0)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from execnodes.core.meaning import RowsMeaning
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode
from execnodes.core.outputs import Outputs, in_windows
from execnodes.core.types import LogicalType, Root
from execnodes.core.windowing import Windowing, window_bound
from execnodes.lowering.stream import Branch, Lowering, Rows
from execnodes.terms.term import said


@exec_node_metadata(
    name="stream-exec-window-table-function",
    version=1,
    consumed_options=["table.local-time-zone"],
    produced_operators=["window"],
    min_plan_version="1.0",
    min_state_version="1.0",
)
class WindowTableFunction(ExecNode):
    """Adds window_start, window_end and window_time to each row, and repeats rows that are in several windows."""

    windowing: Windowing
    """Strategy TimeAttribute; a TumblingWindow, HoppingWindow or CumulativeWindow."""

    def event_times(self, inputs: tuple[frozenset[int], ...]) -> frozenset[int]:
        """Those of the input, and window_time."""
        return inputs[0] | {len(self.output_type.fields) - 1}

    def required_times(self) -> tuple[tuple[int, ...], ...]:
        """The time, or the end of the window, that a row is in."""
        return (self.windowing.required_times,)

    def lower(self, lowering: Lowering, inputs: tuple[Rows, ...]) -> Rows:
        """One branch for each window that a row can be in."""
        zone = self.configuration.get("table.local-time-zone", lowering.zone)
        return Rows(
            self.output_type, tuple(each for branch in inputs[0].branches for each in self._windows(branch, zone))
        )

    def meaning(self, inputs: tuple[RowsMeaning, ...]) -> RowsMeaning:
        """Each row once for each of its windows."""
        (rows,) = inputs
        zone = self.configuration.get("table.local-time-zone", "UTC")
        window = self.windowing.term(rows.columns, zone)
        added = (window_bound(each, window) for each in ("window_start", "window_end", "window_time"))
        origin = said("windowed", "windows {window} of ({input})", window=window, input=rows.rows)
        return rows.made(self.output_type, (*rows.columns, *added), origin)

    def outputs(self, inputs: tuple[LogicalType, ...]) -> Outputs:
        """The input and, where it finds the windows itself, what is told of them."""
        return (
            in_windows(inputs[0], self.windowing)
            if self.windowing.strategy == "TimeAttribute"
            else super().outputs(inputs)
        )

    def check(self, inputs: tuple[LogicalType, ...]) -> None:
        """The window shape is one that this version can compute, and the output is the input and three columns."""
        window, index = self.windowing.window, self.windowing.time_attribute_index
        size, step = self._lengths()
        if size <= 0 or step <= 0 or index is None:
            raise self.fail(f"this version cannot compute a {window.type} from {self.windowing.strategy}")
        if size % step:
            raise self.fail(f"the size of a {window.type} must be a multiple of its step")
        if len(self.output_type.fields) != len(inputs[0].fields) + 3:
            raise self.fail("its output must be the columns of its input, window_start, window_end and window_time")

    def _lengths(self) -> tuple[int, int]:
        """Size and step in milliseconds; 0 where the window has none."""
        window = self.windowing.window
        match window.type:
            case "TumblingWindow":
                return window.size or 0, window.size or 0
            case "HoppingWindow":
                return window.size or 0, window.slide or 0
            case "CumulativeWindow":
                return window.max_size or 0, window.step or 0
            case "SessionWindow":
                return 0, 0

    def _windows(self, branch: Branch, zone: str) -> Iterator[Branch]:
        size, step = (1000 * each for each in self._lengths())
        offset = (self.windowing.window.offset or 0) * 1000
        instant = self.windowing.time_attribute_type.root is Root.TIMESTAMP_LTZ
        micros = _local_micros(branch.columns[self.windowing.time_attribute_index or 0], instant, zone)
        first = _start(micros, size if self.windowing.window.type == "CumulativeWindow" else step, offset)
        if self.windowing.window.type == "CumulativeWindow":
            for length in range(step, size + step, step):
                end = f"({first} + {length})"
                # The windows of a span begin together; those that end before a row do not hold it.
                yield _narrowed(_window(branch, first, end, instant, zone), f"{end} > {micros}")
            return
        for back in range(0, size, step):
            start = f"({first} - {back})" if back else first
            yield _window(branch, start, f"({first} + {size - back})", instant, zone)


def _window(branch: Branch, start: str, end: str, instant: bool, zone: str) -> Branch:
    """The branch with three more columns; `start` and `end` are texts of local microseconds."""
    time = f"timestamp_micros({end} - 1000)"
    # An instant again: the local time of the window's last millisecond, in the session's zone.
    time = f"to_utc_timestamp({time}, '{zone}')" if instant else f"CAST({time} AS TIMESTAMP_NTZ)"
    bounds = tuple(f"CAST(timestamp_micros({each}) AS TIMESTAMP_NTZ)" for each in (start, end))
    return replace(branch, columns=(*branch.columns, *bounds, time))


def _narrowed(branch: Branch, condition: str) -> Branch:
    both = condition if branch.condition is None else f"({branch.condition}) AND ({condition})"
    return replace(branch, condition=both)


def _local_micros(time: str, instant: bool, zone: str) -> str:
    """Text of the microseconds of the local time."""
    local = f"from_utc_timestamp({time}, '{zone}')" if instant else f"CAST({time} AS TIMESTAMP)"
    return f"unix_micros({local})"


def _start(micros: str, step: int, offset: int) -> str:
    """Where the latest window that holds a time begins."""
    shifted = f"{micros} - ({offset})" if offset else micros
    return f"({micros} - pmod({shifted}, {step}))"
