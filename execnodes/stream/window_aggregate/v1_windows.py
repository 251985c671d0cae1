"""Which windows a row is in, and when a window fires. Windows are known by their end, in microseconds of local time."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from execnodes.core.types import Root
from execnodes.core.windowing import SlicedWindowing, Windowing
from execnodes.kernels.local_times import to_instant, to_last_instant, to_local

WINDOW_END = "window_end"
"""End of a window, exclusive, as a TIMESTAMP inside kernels: local microseconds."""
_MS = 1000


@dataclass(frozen=True)
class Windows:
    """The windows of an aggregate."""

    windowing: Windowing | SlicedWindowing
    zone: str
    """Where local time is; only instants (TIMESTAMP_LTZ) are turned into it."""

    @property
    def size(self) -> int:
        """Length in microseconds; of cumulative windows the greatest."""
        window = self.windowing.window
        return (window.max_size or window.size or 0) * _MS

    @property
    def step(self) -> int:
        """Distance from one window's end to the next in microseconds."""
        window = self.windowing.window
        return (window.step or window.slide or window.size or 0) * _MS

    @property
    def offset(self) -> int:
        """Shift of all windows in microseconds."""
        return (self.windowing.window.offset or 0) * _MS

    @property
    def instants(self) -> bool:
        """The time attribute is an instant."""
        return self.windowing.time_attribute_type.root is Root.TIMESTAMP_LTZ

    @property
    def overlapping(self) -> bool:
        """A row is in several windows."""
        return self.size != self.step

    def first(self, time: pl.Expr) -> pl.Expr:
        """End of the first window that a time (not NULL, of the attribute's type) is in."""
        return _floor(self.local(time), self.step, self.offset) + self.step

    def local(self, time: pl.Expr) -> pl.Expr:
        """Local time, in microseconds, of a time of the attribute's type."""
        return to_local(time, self.zone) if self.instants else time

    def spread(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows whose WINDOW_END is that of their first window to a copy for each of their windows.

        Copies of one row do not stand together.
        """
        ends = pl.col(WINDOW_END)
        copies = [rows.with_columns(ends + i * self.step) for i in range(self.size // self.step)]
        if self.windowing.window.type == "CumulativeWindow":
            copies = [rows.filter(ends + i * self.step <= self.last(ends)) for i in range(len(copies))]
            copies = [copy.with_columns(ends + i * self.step) for i, copy in enumerate(copies)]
        return pl.concat(copies)

    def last(self, end: pl.Expr) -> pl.Expr:
        """End of the last window that holds the slice with that end, which is that of its first."""
        if self.windowing.window.type == "CumulativeWindow":
            return _floor(end - 1, self.size, self.offset) + self.size
        return end + (self.size - self.step)

    def start(self, end: pl.Expr) -> pl.Expr:
        """Start of a window."""
        if self.windowing.window.type == "CumulativeWindow":
            return _floor(end - 1, self.size, self.offset)
        return end - self.size

    def time(self, end: pl.Expr) -> pl.Expr:
        """The window's time attribute, its last millisecond: of the attribute's type, in microseconds."""
        last = end - _MS
        return to_instant(last, self.zone) if self.instants else last

    def firing(self, end: pl.Expr) -> pl.Expr:
        """Watermark in epoch ms at which a window fires. A local time that there is twice fires at the later, one that
        there is not when the clock goes forward.
        """
        last = end - _MS
        return (to_last_instant(last, self.zone) if self.instants else last) // _MS


def _floor(time: pl.Expr, length: int, offset: int) -> pl.Expr:
    return (time - offset) // length * length + offset
