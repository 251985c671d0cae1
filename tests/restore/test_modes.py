"""Programs with event time in the mode that their fixture is not of: cut by a savepoint of today they give their rows.

Fixtures are frozen, and those of a job by rows stay by rows; what a sink takes at a watermark has a program of its own.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rekindle.testing import RestoreProgram
from rekindle.testing.restore_fixtures import go_on, write
from tests.restore.program import RestoreProgram as NodeProgram
from tests.restore.program import lines, programs
from tests.restore.programs.sinks import CONFLICTS, POINTS
from tests.restore.programs.windows import LATE

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GRANULARITY = "table.exec.lateness.granularity"
OLD_GRANULARITY = "table.exec.watermark.granularity"
BY_WATERMARKS = ("conflicts", "settled", "options")
"""What a sink takes at a watermark is another thing where there are fewer of them."""
TIMED = [
    each
    for each in programs()
    if "WATERMARK FOR" in each.sql.upper() and not each.edits and not each.name.endswith(("/clock", *BY_WATERMARKS))
]
SAMPLE = (
    "stream-exec-deduplicate_3/event_time", "stream-exec-global-window-aggregate_1/slices",
    "stream-exec-group-window-aggregate_1/uneven", "stream-exec-interval-join_1/shapes",
    "stream-exec-over-aggregate_1/event_time",
    "stream-exec-temporal-sort_1/event_time", "stream-exec-window-aggregate_2/shapes",
    "stream-exec-window-deduplicate_1/event_time", "stream-exec-window-join_1/shapes",
    "stream-exec-window-rank_1/shapes",
    "stream-exec-window-table-function_2/sessions",
)  # fmt: skip


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


def turned(program: NodeProgram) -> RestoreProgram:
    """In the other mode; a row that only the cut would make late is left out."""
    options = {key: value for key, value in program.configuration.items() if key not in (GRANULARITY, OLD_GRANULARITY)}
    if options == program.configuration:
        options = {**options, GRANULARITY: "row"}
    after = program.after if program.after != LATE else {name: _timely(text) for name, text in LATE.items()}
    return RestoreProgram(
        program.name, program.sql, program.queries, program.before, after, options, numbers=program.numbers
    )


def _timely(text: str) -> str:
    """Without the one row of its key."""
    return "".join(line for line in text.splitlines(keepends=True) if '"c"' not in line)


@pytest.mark.spark
@pytest.mark.parametrize(
    "program",
    [pytest.param(each, id=str(each), marks=[pytest.mark.long] * (str(each) not in SAMPLE)) for each in TIMED],
)
def test_the_other_mode_goes_on(spark: SparkSession, tmp_path: Path, program: NodeProgram) -> None:
    other = turned(program)
    assert write(spark, other, tmp_path / "fixture") == []
    (tmp_path / "on").mkdir()
    assert go_on(spark, other, tmp_path / "fixture", tmp_path / "on") == []


@pytest.mark.spark
def test_conflicts_of_batches_go_on(spark: SparkSession, tmp_path: Path) -> None:
    assert write(spark, CONFLICTS_OF_BATCHES, tmp_path / "fixture") == []
    (tmp_path / "on").mkdir()
    assert go_on(spark, CONFLICTS_OF_BATCHES, tmp_path / "fixture", tmp_path / "on") == []
