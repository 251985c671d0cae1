"""The rows of a SELECT: as they come on a terminal, as one table when piped."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import TracebackType
from typing import TYPE_CHECKING, Self

import typer

from rekindle.cli.jobs import attend, reporter
from rekindle.results.tableau import Tableau

if TYPE_CHECKING:
    from rekindle.cli.progress import Reporter
    from rekindle.results.table_result import TableResult
    from rekindle.runtime.progress import Activity, Progress


def show_rows(result: TableResult) -> None:
    """Wait for a query and print its rows; a query that is stopped shows those it gave until then."""
    assert result.job is not None
    live = sys.stdout.isatty()
    if live and not result.job.ends_by_itself:
        print("The query does not end by itself, also with LIMIT; Ctrl-C stops it.", file=sys.stderr, flush=True)
    table = Rows(result, reporter("query"), live=live)
    try:
        attend(result.job, "query", "", report=table, quiet=True)
    except typer.Exit:
        table.end()
        raise
    except BaseException:
        table.close()
        raise
    table.end()


class Rows:
    """A reporter that draws the rows there are; until there are any, another one tells of the progress."""

    def __init__(self, result: TableResult, waiting: Reporter, *, live: bool) -> None:
        self._result = result
        self._waiting: Reporter | None = waiting
        self._live = live
        self._table = Tableau(result.columns, result.types, changes=result.is_changelog)

    def __enter__(self) -> Self:
        if self._waiting is not None:
            self._waiting.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop_waiting()

    def __call__(self, progress: Progress) -> None:
        """Draw what has come."""
        if self._live:
            self._draw()
        if self._waiting is not None:
            self._waiting(progress)

    def wait(self, activity: Activity) -> None:
        """What has been drawn stays."""

    def end(self) -> None:
        """Draw the rest, close the box, count."""
        self._draw()
        _print(self._table.end())

    def close(self) -> None:
        """Close the box; what comes below is an error."""
        _print(self._table.close())

    def _draw(self) -> None:
        changes = self._result.changes(self._table.count)
        if changes:
            self._stop_waiting()
            _print(self._table.add(changes))

    def _stop_waiting(self) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            waiting.__exit__(None, None, None)


def _print(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, flush=True)
