"""ORDER BY as plans have it, in the shape of Flink's, and as Spark SQL text."""

from __future__ import annotations

from execnodes.core.node import PlanModel


class SortField(PlanModel):
    """A column that rows are ordered by."""

    index: int
    """Input column."""
    is_ascending: bool = True
    null_is_last: bool = False

    @property
    def text(self) -> str:
        """Spark SQL over columns c0, c1, …: ``c1 DESC NULLS LAST``."""
        direction = "ASC" if self.is_ascending else "DESC"
        return f"c{self.index} {direction} NULLS {'LAST' if self.null_is_last else 'FIRST'}"


class SortSpec(PlanModel):
    """Columns by weight."""

    fields: tuple[SortField, ...]
