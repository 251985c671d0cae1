"""What a join compares: kind of join, equal keys and the rest of the condition, in the shape of Flink's plans."""

from __future__ import annotations

from typing import Literal as Tag

from execnodes.core.expressions import Expression
from execnodes.core.indexes import LeftIndex, RightIndex
from execnodes.core.node import PlanModel


class JoinSpec(PlanModel):
    """Condition of a join, split into keys that must be equal and a predicate over both rows."""

    join_type: Tag["INNER", "LEFT", "RIGHT", "FULL", "SEMI", "ANTI"]
    left_keys: tuple[LeftIndex, ...] = ()
    right_keys: tuple[RightIndex, ...] = ()
    """Columns compared pairwise with `left_keys`."""
    filter_nulls: tuple[bool, ...] = ()
    """For each pair: True if a NULL matches nothing (``=``), False for IS NOT DISTINCT FROM."""
    non_equi_condition: Expression | None = None
    """Over the left columns, then the right ones; must be TRUE for a pair to match."""

    @property
    def keeps_left(self) -> bool:
        """True if the result says of each left row whether anything matches it."""
        return self.join_type in ("LEFT", "FULL", "SEMI", "ANTI")

    @property
    def keeps_right(self) -> bool:
        """True if the result holds right rows that nothing matches."""
        return self.join_type in ("RIGHT", "FULL")

    @property
    def pairs(self) -> bool:
        """True if the result has the columns of both sides."""
        return self.join_type not in ("SEMI", "ANTI")
