"""Windows of the Table API: `Tumble`, `Slide` and `Session` for `Table.window`, `Over` for `Table.over_window`."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.errors import SqlError
from planner.catalog.catalogs import quoted
from rekindle.api.expressions import Expression, as_sql

Operand = Expression | str
"""An expression, or SQL text of one."""


@dataclass(frozen=True)
class FrameBound:
    """Where the frame of an over window begins or ends."""

    unit: str
    """ROWS or RANGE."""
    distance: str
    """UNBOUNDED, CURRENT ROW, or SQL of how far."""

    def sql(self, direction: str) -> str:
        """The text; `direction` is PRECEDING or FOLLOWING."""
        return self.distance if self.distance == "CURRENT ROW" else f"{self.distance} {direction}"


UNBOUNDED_ROW = FrameBound("ROWS", "UNBOUNDED")
UNBOUNDED_RANGE = FrameBound("RANGE", "UNBOUNDED")
CURRENT_ROW = FrameBound("ROWS", "CURRENT ROW")
CURRENT_RANGE = FrameBound("RANGE", "CURRENT ROW")


def row_interval(rows: int) -> FrameBound:
    """So many rows, in the frame of an over window."""
    return FrameBound("ROWS", str(int(rows)))


@dataclass(frozen=True)
class GroupWindow:
    """A window to group by: its function, the time it is over, its lengths as SQL, and its alias."""

    function: str
    lengths: tuple[str, ...]
    time: str = ""
    name: str = ""

    def on(self, time_field: Operand) -> GroupWindow:
        """Over a time attribute."""
        return GroupWindow(self.function, self.lengths, as_sql(time_field), self.name)

    def alias(self, alias: str) -> GroupWindow:
        """Named, for `group_by` and for its ``start`` and ``end``."""
        if not self.time:
            raise SqlError(f"the window {alias!r} is over no time", hint="Write .on(col('ts')) before .alias(…).")
        return GroupWindow(self.function, self.lengths, self.time, alias)

    @property
    def alias_sql(self) -> str:
        """The alias as SQL has it, in backticks where it must be."""
        return quoted((self.name,))

    def group(self) -> str:
        """What GROUP BY says."""
        return self._call("")

    def bound(self, what: str) -> str:
        """A start, end or time of it."""
        return self._call(f"_{what}")

    def _call(self, suffix: str) -> str:
        return f"{self.function}{suffix}({', '.join((self.time, *self.lengths))})"


class Tumble:
    """Fixed windows next to each other: ``Tumble.over(lit(10).minutes).on(col("ts")).alias("w")``."""

    @classmethod
    def over(cls, size: Operand) -> GroupWindow:
        """Windows of a size."""
        return GroupWindow("TUMBLE", (_length(size),))


class Slide:
    """Fixed windows that overlap: ``Slide.over(lit(10).minutes).every(lit(5).minutes).on(col("ts")).alias("w")``."""

    def __init__(self, size: str) -> None:
        self._size = size

    @classmethod
    def over(cls, size: Operand) -> Slide:
        """Windows of a size."""
        return cls(_length(size))

    def every(self, slide: Operand) -> GroupWindow:
        """One begins every `slide`."""
        return GroupWindow("HOP", (_length(slide), self._size))


class Session:
    """Windows that end where no row comes for a while: ``Session.with_gap(lit(10).minutes).on(col("ts"))``."""

    @classmethod
    def with_gap(cls, gap: Operand) -> GroupWindow:
        """Windows that are at least so far apart."""
        return GroupWindow("SESSION", (_length(gap),))


@dataclass(frozen=True)
class OverWindow:
    """An over window: ``Over.partition_by(…).order_by(…).preceding(…).following(…).alias("w")``."""

    keys: tuple[str, ...] = ()
    order: str = ""
    begin: FrameBound = UNBOUNDED_RANGE
    end: FrameBound | None = None
    name: str = ""

    def order_by(self, order_by: Operand) -> OverWindow:
        """Over rows in an order, that of a time attribute in streams."""
        return OverWindow(self.keys, as_sql(order_by), self.begin, self.end, self.name)

    def preceding(self, preceding: Operand | FrameBound) -> OverWindow:
        """Where the frame begins: an interval, `row_interval`, UNBOUNDED_RANGE or UNBOUNDED_ROW."""
        return OverWindow(self.keys, self.order, _frame_bound(preceding), self.end, self.name)

    def following(self, following: Operand | FrameBound) -> OverWindow:
        """Where the frame ends; without it at the current row."""
        return OverWindow(self.keys, self.order, self.begin, _frame_bound(following), self.name)

    def alias(self, alias: str) -> OverWindow:
        """Named, for ``over``."""
        return OverWindow(self.keys, self.order, self.begin, self.end, alias)

    def definition(self) -> str:
        """What the WINDOW clause says. SqlError without a name or an order, or where rows and ranges mix."""
        end = self.end or FrameBound(self.begin.unit, "CURRENT ROW")
        if not self.name or not self.order:
            raise SqlError(
                "an over window has no alias or no order", hint="Write Over.order_by(col('ts'))….alias('w')."
            )
        if end.unit != self.begin.unit:
            raise SqlError(
                f"the over window {self.name!r} begins by {self.begin.unit} and ends by {end.unit}",
                hint="Write both as rows (row_interval, CURRENT_ROW) or both as a range (an interval, CURRENT_RANGE).",
            )
        keys = f"PARTITION BY {', '.join(self.keys)} " if self.keys else ""
        frame = f" {end.unit} BETWEEN {self.begin.sql('PRECEDING')} AND {end.sql('FOLLOWING')}"
        if self.begin == UNBOUNDED_RANGE and self.end is None:
            frame = ""  # it is what SQL takes by itself, and LAG and LEAD can have none
        return f"{quoted((self.name,))} AS ({keys}ORDER BY {self.order}{frame})"


class Over:
    """Begins an over window."""

    @classmethod
    def order_by(cls, order_by: Operand) -> OverWindow:
        """Over all rows in an order."""
        return OverWindow(order=as_sql(order_by))

    @classmethod
    def partition_by(cls, *partition_by: Operand) -> OverWindow:
        """Over the rows of each key."""
        return OverWindow(tuple(map(as_sql, partition_by)))


def _length(length: Operand | FrameBound) -> str:
    if isinstance(length, FrameBound):
        raise SqlError("windows of so many rows have no SQL", hint="Give a length of time, e.g. lit(10).minutes.")
    return as_sql(length)


def _frame_bound(given: Operand | FrameBound) -> FrameBound:
    return given if isinstance(given, FrameBound) else FrameBound("RANGE", as_sql(given))
