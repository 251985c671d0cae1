"""Rows of collections and of table functions."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from execnodes.core.changelog import ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.expressions import Call, Expression, input_indexes, remap
from execnodes.core.types import LogicalType
from planner.algebra.columns import pick
from planner.algebra.extent import parts_of
from planner.algebra.keys import Key
from planner.algebra.relation import PassesTimes, Places, Pruning, places


@dataclass(frozen=True)
class Unnest(PassesTimes):
    """CROSS / LEFT JOIN UNNEST(collection) or LATERAL TABLE(function): input columns, then the members'."""

    table: Call
    """Of a row of the input: an ARRAY of ROWs, the members."""
    left: bool
    type: LogicalType
    position: Position | None = None
    condition: Expression | None = None
    """Over all columns: members for which it is not TRUE are not there; None keeps all."""

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

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Unnest, Places]:
        """What is needed of the input, and what the call reads; the members' columns stay."""
        width = len(self.input.type.fields)
        asked = set() if self.condition is None else input_indexes(self.condition)
        read = {each for each in needed | asked if each < width} | input_indexes(self.table)
        below, there = pruning.visit(self.input, read)
        kept = [*sorted(there, key=there.__getitem__), *range(width, len(self.type.fields))]
        table = remap(self.table, there.__getitem__)
        assert isinstance(table, Call)
        now = places(kept)
        condition = None if self.condition is None else remap(self.condition, now.__getitem__)
        return replace(self, input=below, table=table, type=pick(self.type, kept), condition=condition), now

    @property
    def parts(self) -> int:
        """Those of the call and of the condition."""
        return parts_of((self.table,) if self.condition is None else (self.table, self.condition))

    @property
    def keeps_state(self) -> bool:
        """No."""
        return False
