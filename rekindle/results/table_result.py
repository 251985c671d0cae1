"""What a statement gives back: a message, rows, or a job that runs."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Any, TextIO

from execnodes.core.changelog import RowKind
from execnodes.core.errors import JobError
from execnodes.core.types import STRING, Field, LogicalType
from rekindle.connectors import collect
from rekindle.results.closeable_iterator import CloseableIterator, follow_changes
from rekindle.results.resolved_schema import ResolvedSchema
from rekindle.results.tableau import Tableau

if TYPE_CHECKING:
    from rekindle.runtime.job import Job


class ResultKind(Enum):
    """What a statement gives back."""

    SUCCESS = 0
    """Only that it is done."""
    SUCCESS_WITH_CONTENT = 1
    """Rows, or a job."""


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
        insert_only: bool = False,
    ) -> None:
        """`collected`: name under which the job's rows are kept by the collect connector.

        `insert_only`: rows are a table as it stands, not changes of one, as those of a batch job.
        """
        self.message = message
        self.columns = tuple(columns)
        self.types = tuple(types)
        self.job = job
        self._rows = list(rows)
        self._collected = collected
        self._insert_only = insert_only

    @property
    def is_query(self) -> bool:
        """Whether the rows are those of a SELECT."""
        return self._collected is not None

    @property
    def is_changelog(self) -> bool:
        """Whether rows carry a row kind: a SELECT in streaming mode."""
        return self.is_query and not self._insert_only

    @property
    def kinds(self) -> list[RowKind]:
        """Row kind of each row."""
        return [kind for kind, _ in self.changes()]

    @property
    def rows(self) -> list[tuple[Any, ...]]:
        """The rows so far."""
        return [values for _, values in self.changes()]

    def await_(self, timeout: float | None = None) -> bool:
        """Wait for the job (seconds); whether it has ended. Raises what made it fail."""
        return self.job.wait(timeout) if self.job is not None else True

    def wait(self, timeout_ms: int | None = None) -> None:
        """Wait for the job; JobError if it has not ended after so many milliseconds. Raises what made it fail."""
        if not self.await_(None if timeout_ms is None else timeout_ms / 1000):
            raise JobError(
                f"the job has not ended after {timeout_ms} ms",
                hint="Wait longer, or stop it with get_job_client().stop().",
            )

    def get_resolved_schema(self) -> ResolvedSchema:
        """Names and types of the columns; those of statements that only tell something are texts."""
        types = self.types or (STRING,) * len(self.columns)
        return ResolvedSchema(tuple(map(Field, self.columns, types)))

    def get_table_schema(self) -> ResolvedSchema:
        """As `get_resolved_schema`."""
        return self.get_resolved_schema()

    def get_result_kind(self) -> ResultKind:
        """Whether the result has rows to tell something."""
        return ResultKind.SUCCESS_WITH_CONTENT if self.columns or self.job is not None else ResultKind.SUCCESS

    def collect(self) -> CloseableIterator:
        """The rows, each as soon as it is there; `close` it, or leave its ``with``, to stop a job that runs on."""
        return CloseableIterator(self)

    def collect_changes(self) -> list[tuple[RowKind, tuple[Any, ...]]]:
        """All rows with their kinds as the engine holds them, once the job has ended."""
        self.await_()
        return self.changes()

    def get_job_client(self) -> Job | None:
        """The job behind an INSERT, a statement set, a plan or a SELECT."""
        return self.job

    def print(self, file: TextIO | None = None) -> None:
        """Write the result as Flink's SQL client does in tableau mode.

        Rows of a query that does not end by itself are written as they come, until the job is stopped.
        """
        out = file or sys.stdout
        if not self.columns:
            self.await_()
            print(self.message, file=out)
            return
        for line in self.tableau():
            print(line, file=out)

    def changes(self, start: int = 0) -> list[tuple[RowKind, tuple[Any, ...]]]:
        """Rows so far with their kinds, from the `start`-th on; does not wait."""
        if self._collected is None:
            return [(RowKind.INSERT, row) for row in self._rows[start:]]
        return [(RowKind(kind), values) for kind, values in collect.results(self._collected, start)]

    def tableau(self) -> Iterator[str]:
        """The lines of `print`: a table; the text itself where that is all there is, as for EXPLAIN."""
        if not self.is_query and len(self._rows) == 1 and len(self.columns) == 1 and "\n" in str(self._rows[0][0]):
            yield str(self._rows[0][0]).rstrip("\n")
            return
        table = Tableau(self.columns, self.types, changes=self.is_changelog)
        if self.job is None or self.job.ends_by_itself:
            yield from table.add(self.collect_changes())
        else:
            for changes in follow_changes(self):
                yield from table.add(changes)
        yield from table.end()
