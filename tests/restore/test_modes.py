"""Programs with event time in the mode that their fixture is not of: cut by a savepoint of today they give their rows.

Fixtures are frozen, and those of a job by rows stay by rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rekindle.testing import RestoreProgram
from rekindle.testing.restore_fixtures import go_on, write
from tests.restore.program import RestoreProgram as NodeProgram
from tests.restore.program import programs
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
    "stream-exec-group-window-aggregate_1/uneven", "stream-exec-over-aggregate_1/event_time",
    "stream-exec-temporal-sort_1/event_time", "stream-exec-window-aggregate_2/shapes",
    "stream-exec-window-rank_1/shapes",
)  # fmt: skip


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
