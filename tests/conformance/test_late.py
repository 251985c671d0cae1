"""A row is late by the watermark of the micro-batches before it; a file `late` says in which programs one is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rekindle.testing.programs import Mode, Program
from rekindle.testing.runner import Outcome, Settings, run_programs
from tests.conformance.matrix import SUPPORTED
from tests.conformance.unsupported import PROGRAMS, has_event_time

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

LATE = [each for each in SUPPORTED if has_event_time(each) and each.refusal is None and each.late is not None]


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
