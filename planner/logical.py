"""The logical plan: relational operators over typed expressions, in Calcite's terms. Immutable; rules rewrite it.

Every node knows its row type. Expressions refer to input columns by index; joins count left columns first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from execnodes.core.errors import Position
from execnodes.core.expressions import AggregateCall, Expression, Value
from execnodes.core.tables import ResolvedTable
from execnodes.core.types import LogicalType

if TYPE_CHECKING:
    from planner.physical import CompiledQuery, Deduplicate, Expand, Normalize, Rank, WindowAggregate


@dataclass(frozen=True)
class Scan:
    """Reads a table: its physical and metadata columns (computed columns and watermark are nodes above it)."""

    identifier: tuple[str, str, str] | None
    table: ResolvedTable
    type: LogicalType
    temporary: bool = False
    hints: tuple[tuple[str, str], ...] = ()
    """OPTIONS given in a hint; they win over the table's."""
    predicates: tuple[Expression, ...] = ()
    """Over the columns of `type`: the source gives only rows for which all of them are TRUE."""


@dataclass(frozen=True)
class WatermarkAssigner:
    """Makes a column an event-time attribute."""

    input: Logical
    time_index: int
    watermark: Expression
    type: LogicalType


@dataclass(frozen=True)
class Project:
    """SELECT expressions."""

    input: Logical
    expressions: tuple[Expression, ...]
    type: LogicalType


@dataclass(frozen=True)
class Filter:
    """WHERE, HAVING, ON: keeps rows for which the condition is TRUE."""

    input: Logical
    condition: Expression

    @property
    def type(self) -> LogicalType:
        """That of the input."""
        return self.input.type


@dataclass(frozen=True)
class Values:
    """Inline rows of literals (casts folded)."""

    rows: tuple[tuple[Expression, ...], ...]
    type: LogicalType


class SetKind(StrEnum):
    """Set operations."""

    UNION = "UNION"
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


@dataclass(frozen=True)
class SetOperation:
    """UNION [ALL], INTERSECT [ALL], EXCEPT [ALL]; inputs have the types of `type`."""

    kind: SetKind
    inputs: tuple[Logical, ...]
    all: bool
    type: LogicalType
    position: Position | None = None


class JoinType(StrEnum):
    """Kinds of join; SEMI and ANTI come from EXISTS and IN."""

    INNER = "INNER"
    LEFT = "LEFT"
    RIGHT = "RIGHT"
    FULL = "FULL"
    SEMI = "SEMI"
    ANTI = "ANTI"


@dataclass(frozen=True)
class Join:
    """A join; the condition is over left and right columns."""

    left: Logical
    right: Logical
    kind: JoinType
    condition: Expression
    type: LogicalType
    ttl: tuple[str | None, str | None] = (None, None)
    """STATE_TTL hint, left and right."""
    position: Position | None = None


@dataclass(frozen=True)
class Aggregate:
    """GROUP BY `grouping` (input columns); `calls` read input columns. Output: keys, then results."""

    input: Logical
    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    type: LogicalType
    grouping_sets: tuple[tuple[int, ...], ...] = ()
    """Of GROUPING SETS / CUBE / ROLLUP: subsets of `grouping`; empty for a plain GROUP BY. Calls of `$GROUPING$1`
    and `$GROUPING_ID$1` then may occur among `calls`."""
    ttl: str | None = None
    """STATE_TTL hint."""
    position: Position | None = None
    merging: frozenset[str] = frozenset()
    """Functions of the user among the calls that can put accumulators together."""


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


@dataclass(frozen=True)
class WindowTableFunction:
    """TABLE(TUMBLE(…)): the input's columns, then window_start, window_end, window_time."""

    input: Logical
    window: Window
    time_index: int
    type: LogicalType
    position: Position | None = None


@dataclass(frozen=True)
class SortKey:
    """A column of ORDER BY."""

    index: int
    ascending: bool = True
    nulls_last: bool = False


@dataclass(frozen=True)
class OverCall:
    """A function over a window of rows, e.g. ROW_NUMBER()."""

    name: str
    internal_name: str
    args: tuple[Expression, ...]
    type: LogicalType
    options: dict[str, Value] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Over:
    """Functions OVER (PARTITION BY … ORDER BY …): input columns, then one column a call."""

    input: Logical
    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    calls: tuple[OverCall, ...]
    type: LogicalType
    rows: bool = False
    """ROWS frame (else RANGE)."""
    preceding: int | None = None
    """Bound of the frame in rows or ms; None: unbounded. The end is always the current row."""
    position: Position | None = None


@dataclass(frozen=True)
class Sort:
    """ORDER BY with OFFSET and FETCH / LIMIT."""

    input: Logical
    order: tuple[SortKey, ...]
    offset: int = 0
    fetch: int | None = None
    position: Position | None = None

    @property
    def type(self) -> LogicalType:
        """That of the input."""
        return self.input.type


@dataclass(frozen=True)
class Unnest:
    """CROSS / LEFT JOIN UNNEST(collection): input columns, then the members'."""

    input: Logical
    collection: Expression
    left: bool
    ordinality: bool
    type: LogicalType
    position: Position | None = None


@dataclass(frozen=True)
class Sink:
    """INSERT INTO a table. The input has the sink's columns in order, already cast."""

    input: Logical
    identifier: tuple[str, str, str] | None
    table: ResolvedTable
    temporary: bool = False
    target_columns: tuple[int, ...] | None = None
    """Columns named in the INSERT; None for all."""
    on_conflict: str | None = None
    """DEDUPLICATE, NOTHING or ERROR."""
    overwrite: bool = False
    hints: tuple[tuple[str, str], ...] = ()
    position: Position | None = None

    @property
    def type(self) -> LogicalType:
        """That of the input."""
        return self.input.type


Logical: TypeAlias = (
    "Scan | WatermarkAssigner | Project | Filter | Values | SetOperation | Join | Aggregate | WindowTableFunction"
    " | Over | Sort | Unnest | Sink | Deduplicate | Expand | Normalize | WindowAggregate"
    " | Rank | CompiledQuery"
)
"""Any operator; the last six come from rules and from compiled plans only (`planner.physical`)."""
