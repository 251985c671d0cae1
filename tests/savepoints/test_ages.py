"""Rows that a savepoint hands over are as old as they were; those of a state that had no TTL begin to age."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from plans.format.load import load
from rekindle.pipeline.record import OperatorRecord, record
from rekindle.savepoints import restore as module
from rekindle.savepoints.manifest import PLAN
from rekindle.savepoints.restore import Restore, prepare
from tests.savepoints.saved import AGGREGATES, TWO


class Frames:
    """In place of a session, its reader and its frames: which texts are selected, frame by frame."""

    def __init__(self) -> None:
        self.read = self
        self.selected: list[tuple[str, ...]] = []

    def options(self, **_: str) -> Frames:
        return self

    def parquet(self, *files: str) -> Frames:
        self.files = files
        return self

    def inputFiles(self) -> list[str]:  # noqa: N802  # Spark's name
        return list(self.files)

    def selectExpr(self, *texts: str) -> Frames:  # noqa: N802  # Spark's name
        self.selected.append(texts)
        return self

    def unionAll(self, other: Frames) -> Frames:  # noqa: N802  # Spark's name
        return other


def ages(restore: Restore, step: OperatorRecord) -> set[str]:
    """What becomes of the column that says when a row was written, in the states of an operator."""
    frames: Any = Frames()
    restore.rows(frames, step)
    assert len(frames.selected) > 1
    return {text for texts in frames.selected for text in texts if text.endswith(" AS rk_written")}


def test_restored_rows_are_as_old_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "for_spark", lambda _, path: str(Path(path)))
    graph = load((AGGREGATES / PLAN).read_text(encoding="utf-8"))
    restore = prepare(AGGREGATES, graph, drop_unclaimed=False, drop=frozenset())
    operators = (each for each in record(graph).steps.values() if isinstance(each, OperatorRecord))
    step = next(each for each in operators if each.operator.uid == TWO)
    assert ages(restore, step) == {"rk_written AS rk_written"}
    kept = {at: replace(each, state=replace(each.state, ttl_ms=0)) for at, each in restore.kept.items()}
    assert ages(replace(restore, kept=kept), step) == {"CAST(NULL AS BIGINT) AS rk_written"}
