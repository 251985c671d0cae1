"""A query that is compiled already."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from execnodes.core.changelog import ChangelogMode, RowKind
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.types import LogicalType
from planner.algebra.keys import Key
from planner.algebra.relation import KeepsColumns, Leaf
from planner.algebra.windows import WindowColumn


@dataclass(frozen=True)
class CompiledQuery(KeepsColumns, Leaf):
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

    @cached_property
    def kinds(self) -> ChangelogMode:
        """What the node says."""
        return self.node.changelog_mode.without(RowKind.UPDATE_BEFORE)

    def updates_without_before(self) -> bool:
        """The node gives what it gives; a -U can be dropped behind it."""
        return True

    def keys_of_rows(self) -> Iterable[Key]:
        """The key that came with it."""
        return () if self.key is None else {frozenset(self.key)}

    @cached_property
    def event_times(self) -> frozenset[int]:
        """Columns whose type says so."""
        return frozenset(at for at, field in enumerate(self.type.fields) if field.type.is_time_attribute)

    @cached_property
    def window_columns(self) -> dict[int, WindowColumn]:
        """None are known."""
        return {}

    @property
    def parts(self) -> int:
        """One, whatever is inside."""
        return 1

    @property
    def keeps_state(self) -> bool:
        """No."""
        return False
