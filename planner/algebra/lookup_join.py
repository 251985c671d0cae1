"""Joins with tables that are asked for the rows of a key when a row comes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from execnodes.core.changelog import ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.expressions import Expression, input_indexes, remap
from execnodes.core.types import LogicalType
from planner.algebra.columns import pick
from planner.algebra.extent import parts_of
from planner.algebra.keys import Key
from planner.algebra.relation import PassesTimes, Places, Pruning, places
from planner.algebra.scan import Scan


@dataclass(frozen=True)
class LookupJoin(PassesTimes):
    """JOIN table FOR SYSTEM_TIME AS OF processing time: columns of the input, then `project` of rows of the table."""

    table: Scan
    keys: tuple[tuple[int, Expression], ...]
    """Columns of the table, and what they must be equal to, over the input. Never empty."""
    filter: Expression | None
    """Over the table's columns: other rows are not there."""
    project: tuple[Expression, ...]
    """Over the table's columns."""
    condition: Expression | None
    """Over the input and `project`: rows for which it is not TRUE are not joined."""
    left: bool
    type: LogicalType
    position: Position | None = None

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Those of the input."""
        return self.input.kinds

    def updates_without_before(self) -> bool:
        """No: the rows that were joined to the former row have to be taken back."""
        return False

    def keys_of_rows(self) -> Iterable[Key]:
        """Those of the input, if a key of the table is asked for: then a row meets one at most."""
        asked = {column for column, _ in self.keys}
        return self.input.upsert_keys if any(key <= asked for key in self.table.upsert_keys) else ()

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[LookupJoin, Places]:
        """What is needed of the input and of the table, and what keys and conditions read."""
        width = len(self.input.type.fields)
        asked = needed | (frozenset() if self.condition is None else input_indexes(self.condition))
        read = {each for each in asked if each < width}.union(*(input_indexes(value) for _, value in self.keys))
        below, there = pruning.visit(self.input, read)
        given = sorted(each - width for each in asked if each >= width)
        project = [self.project[each] for each in given]
        parts = [*project, *([] if self.filter is None else [self.filter])]
        columns = sorted({column for column, _ in self.keys}.union(*map(input_indexes, parts)))
        at = {old: new for new, old in enumerate(columns)}
        kept = [*sorted(there, key=there.__getitem__), *(width + each for each in given)]
        now = places(kept)
        pruned = replace(
            self,
            input=below,
            table=replace(self.table, type=pick(self.table.type, columns)),
            keys=tuple((at[column], remap(value, there.__getitem__)) for column, value in self.keys),
            filter=None if self.filter is None else remap(self.filter, at.__getitem__),
            project=tuple(remap(each, at.__getitem__) for each in project),
            condition=None if self.condition is None else remap(self.condition, now.__getitem__),
            type=pick(self.type, kept),
        )
        return pruned, now

    @property
    def parts(self) -> int:
        """Those of its keys, conditions and columns."""
        conditions = (each for each in (self.filter, self.condition) if each is not None)
        return parts_of((*(value for _, value in self.keys), *self.project, *conditions))

    @property
    def keeps_state(self) -> bool:
        """No: the table is another system's."""
        return False
