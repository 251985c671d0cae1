"""Programs with event time in the mode that their fixture is not of: cut by a savepoint of today they give their rows.

Fixtures are frozen, and those of a job by rows stay by rows; what a sink takes at a watermark has a program of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rekindle.testing.restore_fixtures import go_on, write
from tests.restore.modes import is_timed, turned
from tests.restore.program import RestoreProgram as NodeProgram
from tests.restore.program import lines, programs
from tests.restore.programs.sinks import CONFLICTS, POINTS

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def points(*rows: str) -> str:
    """Rows `k v n` with a second of one minute."""
    texts = (row.rsplit(" ", 1) for row in rows)
    return lines("k v n ts", *(f'{values} "2024-01-01_00:00:{second}"' for values, second in texts)).replace("_", " ")


CONFLICTS_OF_BATCHES = NodeProgram(
    "stream-exec-sink_2", "conflicts_of_batches", POINTS, CONFLICTS.queries,
    {"p/0.json": points('"a" 1 1 01', '"b" 1 2 05', '"c" 2 3 06', '"d" 3 4 06')},
    {"p/1.json": points('"e" 2 5 06', '"f" 4 6 20', '"g" 4 7 40')},
    rows_after={
        "first_kept": [["a", 1], ["c", 2], ["d", 3], ["f", 4]],
        "alone": [[key, at] for at, key in enumerate("abcdefg", 1)],
    },
)  # fmt: skip
"""Rows of one key are on both sides of the cut, and of the watermark at the cut."""


@pytest.mark.long
@pytest.mark.spark
@pytest.mark.parametrize("program", [each for each in programs() if is_timed(each)], ids=str)
def test_the_other_mode_goes_on(spark: SparkSession, tmp_path: Path, program: NodeProgram) -> None:
    """By a savepoint of today; `test_replay` goes on without Spark from one that stays as it is."""
    other = turned(program)
    assert write(spark, other, tmp_path / "fixture") == []
    (tmp_path / "on").mkdir()
    assert go_on(spark, other, tmp_path / "fixture", tmp_path / "on") == []


@pytest.mark.spark
def test_conflicts_of_batches_go_on(spark: SparkSession, tmp_path: Path) -> None:
    assert write(spark, CONFLICTS_OF_BATCHES, tmp_path / "fixture") == []
    (tmp_path / "on").mkdir()
    assert go_on(spark, CONFLICTS_OF_BATCHES, tmp_path / "fixture", tmp_path / "on") == []
