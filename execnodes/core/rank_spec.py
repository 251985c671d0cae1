"""Top-N as plans have it, in the shape of Flink's."""

from __future__ import annotations

from typing import Literal as Tag

from execnodes.core.indexes import ColumnIndex, Number
from execnodes.core.node import PlanModel


class PartitionSpec(PlanModel):
    """Columns of PARTITION BY."""

    fields: tuple[ColumnIndex, ...] = ()


class RankRange(PlanModel):
    """Which ranks of a partition are kept; ranks count from 1."""

    type: Tag["Constant", "Variable"]
    start: Number = 1
    """Lowest rank."""
    end: Number | None = None
    """Highest rank; only with Constant."""
    end_index: ColumnIndex | None = None
    """Input column that holds the highest rank, that of the first row of a partition; only with Variable."""

    def text(self, columns: tuple[str, ...]) -> str:
        """``rankStart=1, rankEnd=3``, as Flink shows it."""
        return (
            f"rankEnd={columns[self.end_index]}"
            if self.end_index is not None
            else f"rankStart={self.start}, rankEnd={self.end}"
        )

    def problem(self, width: int) -> str | None:
        """Why it cannot be one over so many columns."""
        if self.type == "Variable":
            known = self.end_index is not None and 0 <= self.end_index < width and self.start == 1 and self.end is None
            return None if known else "a Variable range needs the endIndex of an input column, and begins at 1"
        if self.end is None or self.end_index is not None:
            return "a Constant range needs an end, and no endIndex"
        return None if 1 <= self.start <= self.end + 1 else f"the ranks {self.start} to {self.end} are none"


class RankStrategy(PlanModel):
    """What the state holds: the best rows, if rows are only added (AppendFast) or only get better (UpdateFast); else
    all rows (Retract).
    """

    type: Tag["AppendFast", "UpdateFast", "Retract"]
    primary_keys: tuple[ColumnIndex, ...] = ()
    """Input columns by which an update finds its row; only with UpdateFast."""

    def __str__(self) -> str:
        keys = f"[{','.join(map(str, self.primary_keys))}]" if self.type == "UpdateFast" else ""
        return f"{self.type}Strategy{keys}"
