"""MATCH_RECOGNIZE."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from execnodes.core.changelog import INSERT_ONLY, ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.match_spec import MatchSpec
from execnodes.core.places import Place
from execnodes.core.types import LogicalType, TimeKind
from planner.algebra.extent import parts_of
from planner.algebra.relation import KeepsColumns, Unary
from planner.algebra.windows import WindowColumn


@dataclass(frozen=True)
class Match(KeepsColumns, Unary):
    """A row for each run of rows of a key that has the form of a pattern: the keys, then the measures."""

    spec: MatchSpec = field(hash=False)
    type: LogicalType
    position: Position
    place: Place | None = None

    @property
    def kinds(self) -> ChangelogMode:
        """A match is given once, when it is complete."""
        return INSERT_ONLY

    def updates_without_before(self) -> bool:
        """There are none."""
        return True

    @cached_property
    def event_times(self) -> frozenset[int]:
        """MATCH_ROWTIME()."""
        return frozenset(at for at, each in enumerate(self.type.fields) if each.type.kind is TimeKind.ROWTIME)

    @cached_property
    def window_columns(self) -> dict[int, WindowColumn]:
        """None."""
        return {}

    def keys_of_rows(self) -> tuple[frozenset[int], ...]:
        """None: matches may overlap."""
        return ()

    @property
    def parts(self) -> int:
        """Those of the definitions."""
        return parts_of(each.condition for each in self.spec.definitions)

    @property
    def keeps_state(self) -> bool:
        """Yes."""
        return True
