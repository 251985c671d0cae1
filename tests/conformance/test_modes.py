"""Event time as users run it: programs without a late row give Flink's rows whatever the micro-batches, in both modes.

In the default mode a row is late by the watermark of the micro-batches before it. So in micro-batches of a row each the
default mode is Flink's rule, and the programs whose late rows make a difference (a file ``late`` says which) are tested
with it, too. ``REKINDLE_SEED`` draws other sizes of micro-batches than those of every run.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from execnodes.core.options import OPTIONS
from rekindle.testing.cut import MicroBatches, cut_program
from rekindle.testing.programs import Mode, Program
from rekindle.testing.report import lines_of
from rekindle.testing.runner import Outcome, Settings, run_programs
from tests.conformance.test_conformance import SUPPORTED
from tests.conformance.unsupported import PROGRAMS, has_event_time

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SEED = int(os.environ.get("REKINDLE_SEED", "1"))
AS_USERS = {"parallelism.default": OPTIONS["parallelism.default"].default}
"""What other tests set, set back."""
TIMED = [each for each in SUPPORTED if has_event_time(each) and each.refusal is None]
PUNCTUAL = [each for each in TIMED if each.late is None]
LATE = [each for each in TIMED if each.late is not None]
OTHERWISE = {
    "calc/current_watermark": "it shows the watermark, which is another at the end of a micro-batch",
    "sink/conflict_nothing_watermarked": "what its sink takes at a watermark depends on when it comes",
    "window/session_behind_over": "rows that OVER takes although they are late are not late to what is above it",
}
"""What the default mode does otherwise, even in micro-batches of one row."""
SAMPLE = ("group-window/tumble", "over/range_bounded_late", "sort/by_event_time", "window/dedup_first")


def check(program: Program, settings: Settings, spark: SparkSession) -> None:
    (result,) = run_programs([program], settings, spark=spark)
    assert result.verdict.outcome is Outcome.PASSED, "\n".join(lines_of(result))


@pytest.mark.spark
@pytest.mark.parametrize("program", PUNCTUAL, ids=lambda program: program.name)
def test_default_mode_in_random_micro_batches(program: Program, spark: SparkSession) -> None:
    print(f"REKINDLE_SEED={SEED}")
    check(program, Settings(AS_USERS, Mode.DEFAULT, parallel=1, micro_batches=MicroBatches(SEED)), spark)


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("seed", range(SEED + 1, SEED + 4))
@pytest.mark.parametrize("program", TIMED, ids=lambda program: program.name)
def test_more_micro_batches_and_pieces(program: Program, seed: int, spark: SparkSession) -> None:
    """Also with savepoints between them; rows that are late are late by rows."""
    settings = Settings(AS_USERS, parallel=1, cut=1 + seed % 3, micro_batches=MicroBatches(seed))
    check(program, settings, spark)


@pytest.mark.spark
@pytest.mark.parametrize(
    "program",
    [
        pytest.param(each, id=each.name, marks=[pytest.mark.long] * (each.name not in SAMPLE))
        for each in LATE
        if each.name not in OTHERWISE
    ],
)
def test_a_row_is_late_by_the_micro_batches_before(program: Program, spark: SparkSession) -> None:
    check(program, Settings(mode=Mode.DEFAULT, parallel=1, micro_batches=MicroBatches(None)), spark)


@pytest.mark.spark
@pytest.mark.long
def test_rows_are_late_where_a_program_says_so(spark: SparkSession) -> None:
    """In one micro-batch no row is."""
    results = run_programs(LATE, Settings(mode=Mode.DEFAULT, parallel=2), spark=spark)
    assert [each.program.name for each in results if each.verdict.outcome is Outcome.PASSED] == []


@pytest.mark.parametrize("program", [each for each in PROGRAMS if each.late is not None], ids=lambda p: p.name)
def test_reasons_are_sentences(program: Program) -> None:
    assert program.late is not None
    assert program.late.endswith(".")
    assert "\n" not in program.late


def test_micro_batches_hold_every_line_once() -> None:
    (program,) = (each for each in PROGRAMS if each.name == "window/tumble")
    lines = (program.folder / "input" / "ticks.jsonl").read_bytes().splitlines()
    for micro_batches in (MicroBatches(1), MicroBatches(2), MicroBatches(None)):
        for count in (1, 3):
            pieces = cut_program(program, count, micro_batches)
            assert pieces is not None
            with pieces:
                for number in range(1, count):
                    pieces.place(number)
                files = sorted((pieces.folder / "input" / "ticks.jsonl").iterdir())
                found = [line for each in files for line in each.read_bytes().splitlines()]
                assert found == lines
                assert sorted(files, key=lambda each: each.stat().st_mtime_ns) == files
                assert len(files) >= (len(lines) if micro_batches.seed is None else 2)
