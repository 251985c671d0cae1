"""ORDER BY as plans have it, in the shape of Flink's, and as Spark SQL text."""

from __future__ import annotations

from execnodes.core.indexes import ColumnIndex
from execnodes.core.node import PlanModel
from execnodes.terms.term import Term, leaf, said


class SortField(PlanModel):
    """A column that rows are ordered by."""

    index: ColumnIndex
    """Input column."""
    is_ascending: bool = True
    null_is_last: bool = False

    @property
    def text(self) -> str:
        """Spark SQL over columns c0, c1, …: ``c1 DESC NULLS LAST``."""
        return f"c{self.index} {self.direction}"

    @property
    def direction(self) -> str:
        """``DESC NULLS LAST``."""
        return f"{'ASC' if self.is_ascending else 'DESC'} NULLS {'LAST' if self.null_is_last else 'FIRST'}"


class SortSpec(PlanModel):
    """Columns by weight."""

    fields: tuple[SortField, ...]

    def terms(self, columns: tuple[Term, ...]) -> tuple[Term, ...]:
        """What rows are ordered by, from what the columns of the input are."""
        pairs = ((columns[each.index], leaf("direction", each.direction)) for each in self.fields)
        return tuple(said("ordered", "{column} {direction}", column=one, direction=other) for one, other in pairs)
