"""UNION, INTERSECT and EXCEPT."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property, reduce

from execnodes.core.changelog import ChangelogMode
from execnodes.core.errors import Position
from execnodes.core.types import LogicalType
from planner.algebra.columns import pick
from planner.algebra.keys import Key
from planner.algebra.relation import Logical, Places, Pruning, kinds_of, places
from planner.algebra.windows import WindowColumn


class SetKind(StrEnum):
    """Set operations."""

    UNION = "UNION"
    INTERSECT = "INTERSECT"
    EXCEPT = "EXCEPT"


@dataclass(frozen=True)
class SetOperation(Logical):
    """UNION [ALL], INTERSECT [ALL], EXCEPT [ALL]; inputs have the types of `type`.

    All but UNION ALL are made of other operators by a rule, before anybody asks for changes or keys.
    """

    kind: SetKind
    members: tuple[Logical, ...]
    all: bool
    type: LogicalType
    position: Position | None = None

    @property
    def inputs(self) -> tuple[Logical, ...]:
        """The members."""
        return self.members

    def over(self, inputs: Sequence[Logical]) -> SetOperation:
        """The same operation over other members."""
        return replace(self, members=tuple(inputs))

    @cached_property
    def kinds(self) -> ChangelogMode:
        """Those of any member."""
        return kinds_of(self.members)

    def updates_without_before(self) -> bool:
        """If all members can."""
        return all(each.can_omit_update_before for each in self.members)

    def keys_of_rows(self) -> Iterable[Key]:
        """None: members may have equal rows."""
        return ()

    @cached_property
    def event_times(self) -> frozenset[int]:
        """Columns that are event time in all members."""
        return reduce(frozenset.intersection, (each.event_times for each in self.members))

    @cached_property
    def window_columns(self) -> dict[int, WindowColumn]:
        """Columns that tell the same in all members."""
        first, *others = (each.window_columns for each in self.members)
        return {at: each for at, each in first.items() if all(other.get(at) == each for other in others)}

    def pruned(self, needed: frozenset[int], pruning: Pruning) -> tuple[SetOperation, Places]:
        """Only these columns of each member, at least one."""
        kept = sorted(needed) or [0]
        members = tuple(pruning.exactly(each, kept)[0] for each in self.members)
        return replace(self, members=members, type=pick(self.type, kept)), places(kept)

    @property
    def parts(self) -> int:
        """One."""
        return 1

    @property
    def keeps_state(self) -> bool:
        """All but UNION ALL do."""
        return not (self.kind is SetKind.UNION and self.all)
