"""Rows of a SELECT as they come."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

import pytest

from execnodes.core.changelog import RowKind
from execnodes.core.types import INT, LogicalType
from rekindle.cli.rows import Rows
from rekindle.runtime.progress import Activity, Progress

PROGRESS = Progress(0, 1, 1.0, None, {}, {})


class Waiting:
    """Notes what it is told."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def __enter__(self) -> Self:
        self.heard.append("begin")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.heard.append("end")

    def __call__(self, progress: Progress) -> None:
        self.heard.append("progress")

    def wait(self, activity: Activity) -> None:
        self.heard.append(activity.kind)


class Result:
    """As much of a TableResult as is looked at."""

    is_changelog = True
    columns = ("n",)
    types: tuple[LogicalType, ...] = (INT,)

    def __init__(self) -> None:
        self.rows: list[int] = []

    def changes(self, start: int) -> list[tuple[RowKind, tuple[int]]]:
        return [(RowKind.INSERT, (row,)) for row in self.rows[start:]]


@pytest.mark.parametrize("live", [True, False])
def test_the_progress_is_shown_until_there_are_rows(live: bool, capsys: pytest.CaptureFixture[str]) -> None:
    waiting, result = Waiting(), Result()
    shown: Any = result
    with Rows(shown, waiting, live=live) as rows:
        rows(PROGRESS)
        assert waiting.heard == ["begin", "progress"]
        result.rows.append(1)
        rows(PROGRESS)
        assert ("| +I | 1 |" in capsys.readouterr().out) is live
        assert waiting.heard == ["begin", "progress", "end" if live else "progress"]
        result.rows.append(2)
        rows(PROGRESS)
    rows.end()
    lines = capsys.readouterr().out.splitlines()
    assert lines[-3:] == ["| +I | 2 |", "+----+---+", "Received a total of 2 rows"]
    assert len(lines) == (3 if live else 7)
