"""Windows of time, and the columns that tell of them."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.types import LogicalType

START, END, TIME = "WindowStart", "WindowEnd", "WindowTime"


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


@dataclass(frozen=True)
class WindowProperty:
    """An output column that tells of the window."""

    name: str
    property: str
    """WindowStart, WindowEnd or WindowTime."""
    type: LogicalType
