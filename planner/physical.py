"""Operators that no SQL text makes: what rules make of logical ones once it is known how they run, compiled queries."""

from __future__ import annotations

from dataclasses import dataclass

from execnodes.core.errors import Position
from execnodes.core.expressions import AggregateCall, Expression
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.types import LogicalType
from planner.logical import Logical, SortKey, Window


@dataclass(frozen=True)
class CompiledQuery:
    """A query that a plan holds as nodes already; they go into the new graph as they are, so no rule looks inside."""

    graph: ExecGraph
    """The query's nodes, without a sink."""
    root: int
    """Id of the node that gives the rows."""
    type: LogicalType
    """The root's types under the names of the query's columns."""
    key: tuple[int, ...] | None = None
    """Columns by which a row's updates find it."""

    @property
    def node(self) -> ExecNode:
        """The node that gives the rows."""
        return self.graph.by_id[self.root]


@dataclass(frozen=True)
class Normalize:
    """Turns rows that only say what is new under a key into a full changelog."""

    input: Logical
    keys: tuple[int, ...]
    condition: Expression | None = None
    """Rows for which it is not TRUE count as deleted."""

    @property
    def type(self) -> LogicalType:
        """That of the input."""
        return self.input.type


@dataclass(frozen=True)
class Deduplicate:
    """Keeps one row a key: the first or the last by event time."""

    input: Logical
    keys: tuple[int, ...]
    time_index: int
    keep_last: bool
    position: Position | None = None

    @property
    def type(self) -> LogicalType:
        """That of the input."""
        return self.input.type


@dataclass(frozen=True)
class Rank:
    """Keeps the rows of each partition that have a rank between two bounds. Output: the input, then the rank."""

    input: Logical
    partition: tuple[int, ...]
    order: tuple[SortKey, ...]
    function: str
    """ROW_NUMBER, RANK or DENSE_RANK."""
    start: int
    end: int
    """Lowest and highest rank that is kept, from 1."""
    type: LogicalType
    position: Position | None = None


@dataclass(frozen=True)
class Expand:
    """Several rows of each: one for each list of expressions."""

    input: Logical
    projects: tuple[tuple[Expression, ...], ...]
    type: LogicalType


@dataclass(frozen=True)
class WindowProperty:
    """An output column that tells of the window."""

    name: str
    property: str
    """WindowStart, WindowEnd or WindowTime."""
    type: LogicalType


@dataclass(frozen=True)
class WindowAggregate:
    """GROUP BY keys and a window. Output: keys, results, window properties."""

    input: Logical
    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    window: Window
    time_type: LogicalType
    """Of the time attribute that the window was made from."""
    time_index: int | None
    """Input column of the time attribute; None if the window is taken from `bounds`."""
    bounds: tuple[int, int] | None
    """Input columns of the window's start and end."""
    properties: tuple[WindowProperty, ...]
    type: LogicalType
    grouping_sets: tuple[tuple[int, ...], ...] = ()
    position: Position | None = None
