"""Windows of time, and the columns that tell of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from execnodes.core.types import LogicalType

START, END, TIME = "WindowStart", "WindowEnd", "WindowTime"


@dataclass(frozen=True)
class Emission:
    """When windows of old are given besides at their end."""

    early: bool = False
    """Before it."""
    lateness: int = 0
    """Milliseconds after it in which rows are taken."""

    @property
    def updates(self) -> bool:
        """Whether a window is given more than once."""
        return self.early or self.lateness > 0


@dataclass(frozen=True)
class Window:
    """A window of a table function; lengths in milliseconds."""

    kind: str
    """TUMBLE, HOP, CUMULATE or SESSION."""
    size: int
    """Size, maximum size (CUMULATE) or gap (SESSION)."""
    step: int = 0
    """Slide of HOP, step of CUMULATE."""
    offset: int = 0
    partition: tuple[int, ...] = ()
    """PARTITION BY of SESSION."""
    emission: Emission | None = None
    """Of TUMBLE, HOP and SESSION in GROUP BY, the windows of old; None for those of table functions."""

    @property
    def updates(self) -> bool:
        """Whether a window is given more than once."""
        return self.emission is not None and self.emission.updates

    @property
    def uneven(self) -> bool:
        """Whether the steps do not fill the window."""
        return self.step > 0 and self.size % self.step != 0

    @property
    def of_a_row(self) -> int:
        """In how many windows a row is, at most."""
        return max(1, -(-self.size // self.step)) if self.step > 0 else 1


@dataclass(frozen=True)
class WindowColumn:
    """A column that tells something of the window a row is in."""

    window: Window
    time_type: LogicalType
    property: str
    """WindowStart, WindowEnd or WindowTime."""

    def is_of_same_window(self, other: WindowColumn) -> bool:
        """Whether columns of two inputs are one bound of windows that are alike, and end at the same watermark."""
        mine, its = (
            (each.property, replace(each.window, partition=()), each.time_type.root, each.time_type.kind)
            for each in (self, other)
        )
        return mine == its


@dataclass(frozen=True)
class WindowProperty:
    """An output column that tells of the window."""

    name: str
    property: str
    """WindowStart, WindowEnd or WindowTime."""
    type: LogicalType


def bounds_of(columns: Mapping[int, WindowColumn], keys: Iterable[int]) -> tuple[int, int] | None:
    """Start and end among the keys, both of one window; None if they do not hold both."""
    found = [(each, columns[each]) for each in keys if each in columns]
    for start, about in found:
        if about.property == START:
            for end, other in found:
                if other.property == END and other.window == about.window:
                    return start, end
    return None
