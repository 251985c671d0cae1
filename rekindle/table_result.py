"""What a statement gives back: a message, rows, or a job that runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from execnodes.core.changelog import RowKind
from execnodes.core.types import LogicalType, Root
from rekindle.connectors import collect

if TYPE_CHECKING:
    from rekindle.runtime.job import Job


class TableResult:
    """Result of a statement. Rows of a SELECT come as the job makes them; `await_` waits for its end."""

    def __init__(
        self,
        *,
        message: str = "OK",
        columns: Sequence[str] = (),
        types: Sequence[LogicalType] = (),
        rows: Sequence[tuple[Any, ...]] = (),
        job: Job | None = None,
        collected: str | None = None,
    ) -> None:
        """`collected`: name under which the job's rows are kept by the collect connector."""
        self.message = message
        self.columns = tuple(columns)
        self.types = tuple(types)
        self.job = job
        self._rows = list(rows)
        self._collected = collected

    @property
    def is_query(self) -> bool:
        """Whether rows carry a row kind: a SELECT."""
        return self._collected is not None

    @property
    def kinds(self) -> list[RowKind]:
        """Row kind of each row."""
        if self._collected is None:
            return [RowKind.INSERT] * len(self._rows)
        return [RowKind(kind) for kind, _ in collect.results(self._collected)]

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows so far."""
        if self._collected is None:
            return self._rows
        return [values for _, values in collect.results(self._collected)]

    def await_(self, timeout: float | None = None) -> bool:
        """Wait for the job (seconds); whether it has ended. Raises what made it fail."""
        return self.job.wait(timeout) if self.job is not None else True

    def collect(self) -> Iterator[tuple[RowKind, tuple[Any, ...]]]:
        """All rows with their kinds, once the job has ended."""
        self.await_()
        return iter(list(zip(self.kinds, self.rows, strict=True)))

    def get_job_client(self) -> Job | None:
        """The job behind an INSERT, a statement set, a plan or a SELECT."""
        return self.job

    def print(self, file: TextIO | None = None) -> None:
        """Write the result as Flink's SQL client does in tableau mode; waits for the end of a SELECT."""
        out = file or sys.stdout
        if not self.columns:
            self.await_()
            print(self.message, file=out)
            return
        for line in self.tableau():
            print(line, file=out)

    def tableau(self) -> Iterator[str]:
        """The lines of `print`."""
        changes = list(self.collect())
        heads = (["op"] if self.is_query else []) + list(self.columns)
        known: list[LogicalType | None] = [*self.types] or [None] * len(self.columns)
        types = [None, *known] if self.is_query else known
        table = [
            ([kind.short] if self.is_query else []) + [format_value(value) for value in values]
            for kind, values in changes
        ]
        widths = [max([len(head), *(len(line[i]) for line in table)]) for i, head in enumerate(heads)]
        rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
        yield rule
        yield _line(heads, widths, [None] * len(heads))
        yield rule
        for line in table:
            yield _line(line, widths, types)
        if table:
            yield rule
        count = f"{len(table)} row{'' if len(table) == 1 else 's'}"
        yield f"Received a total of {count}" if self.is_query else f"{count} in set"


_RIGHT = (Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT, Root.FLOAT, Root.DOUBLE, Root.DECIMAL)


def _line(cells: Sequence[str], widths: Sequence[int], types: Sequence[LogicalType | None]) -> str:
    parts = [
        cell.rjust(width) if t is not None and t.root in _RIGHT else cell.ljust(width)
        for cell, width, t in zip(cells, widths, types, strict=True)
    ]
    return f"| {' | '.join(parts)} |"


def format_value(value: Any) -> str:
    """A value for people: ``<NULL>``, ``TRUE``, ``x'0aff'``, texts as they are."""
    match value:
        case None:
            return "<NULL>"
        case bool():
            return "TRUE" if value else "FALSE"
        case bytes():
            return f"x'{value.hex()}'"
        case list():
            return f"[{', '.join(map(format_value, value))}]"
        case dict():
            return "{" + ", ".join(f"{format_value(k)}={format_value(v)}" for k, v in value.items()) + "}"
        case tuple():
            return f"({', '.join(map(format_value, value))})"
        case _:
            return str(value)
