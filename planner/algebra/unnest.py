"""Rows of collections."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from execnodes.core.changelog import ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.expressions import Call
from execnodes.core.types import LogicalType
from planner.algebra.extent import parts_of
from planner.algebra.keys import Key
from planner.algebra.relation import KeepsColumns, PassesTimes


@dataclass(frozen=True)
class Unnest(PassesTimes, KeepsColumns):
    """CROSS / LEFT JOIN UNNEST(collection): input columns, then the members'."""

    table: Call
    """Of a row of the input: an ARRAY of ROWs, the members."""
    left: bool
    type: LogicalType
    position: Position | None = None

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Those of the input."""
        return self.input.kinds

    def updates_without_before(self) -> bool:
        """No: the members of the former collection have to be taken back."""
        return False

    def keys_of_rows(self) -> Iterable[Key]:
        """None: members may be equal."""
        return ()

    @property
    def parts(self) -> int:
        """Those of the call."""
        return parts_of((self.table,))

    @property
    def keeps_state(self) -> bool:
        """No."""
        return False
