"""Reading a table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from execnodes.connectors import source_changelog_mode
from execnodes.core.changelog import ChangelogMode, RowKind
from execnodes.core.expressions import Expression
from execnodes.core.tables import ResolvedTable
from execnodes.core.types import LogicalType
from planner.algebra.columns import pick
from planner.algebra.extent import parts_of
from planner.algebra.keys import Key
from planner.algebra.relation import Leaf, Places, Pruning, WithoutTimes, places


@dataclass(frozen=True)
class Scan(WithoutTimes, Leaf):
    """Reads a table: its physical and metadata columns (computed columns and watermark are nodes above it)."""

    identifier: tuple[str, str, str] | None
    table: ResolvedTable
    type: LogicalType
    temporary: bool = False
    hints: tuple[tuple[str, str], ...] = ()
    """OPTIONS given in a hint; they win over the table's."""
    predicates: tuple[Expression, ...] = ()
    """Over the columns of `type`: the source gives only rows for which all of them are TRUE."""

    @property
    def options(self) -> dict[str, str]:
        """WITH options and those of a hint."""
        return {**(self.table.options or {}), **dict(self.hints)}

    @cached_property
    def source_mode(self) -> ChangelogMode:
        """What the connector gives."""
        return source_changelog_mode(self.options)

    @cached_property
    def kinds(self) -> ChangelogMode:
        """What the connector gives."""
        return self.source_mode.without(RowKind.UPDATE_BEFORE)

    def updates_without_before(self) -> bool:
        """A -U of the source can be dropped."""
        return True

    def keys_of_rows(self) -> Iterable[Key]:
        """The primary key, if all of it is read."""
        key = self.table.table_schema.primary_key
        names = [field.name for field in self.type.fields]
        if key is not None and set(key.columns) <= set(names):
            yield frozenset(names.index(each) for each in key.columns)

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[Scan, Places]:
        """A table is read once, with what any reader wants; some column has to be read, so that rows are counted."""
        kept = pruning.shared(self, needed or frozenset({0}))
        return replace(self, type=pick(self.type, kept)), places(kept)

    @property
    def parts(self) -> int:
        """Those of the predicates."""
        return parts_of(self.predicates)

    @property
    def keeps_state(self) -> bool:
        """No."""
        return False
