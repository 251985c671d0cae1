"""Rows of a result as they come."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from execnodes.core.changelog import RowKind
from execnodes.core.errors import RekindleError
from execnodes.core.types import LogicalType
from execnodes.user_functions.arrow_values import reader
from execnodes.user_functions.rows import Row, name_values

if TYPE_CHECKING:
    from rekindle.results.table_result import TableResult

_POLL = 0.05
"""Seconds between two looks for rows."""

Change = tuple[RowKind, tuple[Any, ...]]


class CloseableIterator(Iterator[Row]):
    """Rows of a result, in their order; it waits for the next one until the job has ended."""

    def __init__(self, result: TableResult) -> None:
        self._result = result
        self._names = result.columns
        self._read = read_values(result.types)
        self._changes = follow_changes(result)
        self._waiting: deque[Change] = deque()
        self._closed = False

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Row:
        while not self._closed:
            if self._waiting:
                kind, values = self._waiting.popleft()
                return name_values(self._names, self._read(values), kind)
            self._waiting.extend(next(self._changes))
        raise StopIteration

    def next(self) -> Row:
        """The next row; StopIteration behind the last one."""
        return next(self)

    def close(self) -> None:
        """Stop the job if it still runs; there are no more rows."""
        self._closed = True
        job = self._result.job
        if job is not None and not job.has_ended:
            job.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def follow_changes(result: TableResult) -> Iterator[Sequence[Change]]:
    """The changes of a result in pieces, as they come, until its job has ended; raises what made that fail, at last."""
    count, ended, failure = 0, False, None
    while True:
        changes = result.changes(count)
        if changes:
            count += len(changes)
            yield changes
        elif failure is not None:
            raise failure
        elif ended:
            return
        else:
            try:
                ended = result.await_(_POLL)
            except RekindleError as error:
                failure = error


def read_values(types: Sequence[LogicalType]) -> Callable[[Sequence[Any]], list[Any]]:
    """From values as the engine holds them to those of Python: `Row`, dict, time, timedelta. No types: as they are."""
    readers = [reader(t, Row) for t in types]
    if not any(readers):
        return list
    return lambda values: [value if read is None else read(value) for read, value in zip(readers, values, strict=True)]
