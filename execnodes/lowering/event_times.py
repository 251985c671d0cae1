"""The one rule for rows without an event time: an operator that goes by it fails the job, as Flink does.

A node says which columns of its inputs it goes by (`ExecNode.required_times`), and nothing else: the runtime asks here
what becomes of a NULL. What Flink does for each operator is in tests/runtime/test_null_times.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from execnodes.core.errors import JobError
from execnodes.core.places import Place, told
from execnodes.core.types import LogicalType
from execnodes.lowering.raising import raised
from execnodes.lowering.spark_sql import spark_type
from execnodes.lowering.stream import quote

_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


@dataclass(frozen=True, slots=True)
class MissingTime:
    """A NULL in a column that must hold a time."""

    column: str
    table: str | None
    """Of the row, if it comes straight from one."""
    place: Place
    """Of what goes by the time."""

    @classmethod
    def of(cls, column: str, table: str | None, place: Place) -> MissingTime:
        """`column`: its name in the plan, which SQL has only in ORDER BY where it begins with a ``$``."""
        written = place.text.rpartition(".")[2]
        return cls(written if column.startswith("$") and _PLAIN.fullmatch(written) else column, table, place)

    @property
    def message(self) -> str:
        """What happened, in Flink's words first."""
        table = f" in a row of table {self.table}" if self.table else ""
        return f"RowTime field should not be null: column {self.column!r} is NULL{table}"

    @property
    def hint(self) -> str:
        """The way out."""
        name = self.column if _PLAIN.fullmatch(self.column) else quote(self.column)
        return f"Leave such rows out before: WHERE {name} IS NOT NULL."

    def require(self, type: LogicalType, text: str) -> str:
        """Spark SQL text of the time, which fails for a row that has none."""
        return f"coalesce({text}, CAST({raised(self.message, self.place, hint=self.hint)} AS {spark_type(type)}))"

    def error(self) -> JobError:
        """The same where Python has the rows, which does not know where they are from."""
        return JobError(self.message + told(self.place), hint=self.hint)
