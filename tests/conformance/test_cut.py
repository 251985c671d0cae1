"""Programs that Flink has answered give the same rows when their input comes in pieces, with savepoints between."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rekindle.testing.cut import cut_program
from rekindle.testing.programs import Program
from rekindle.testing.report import lines_of
from rekindle.testing.runner import Outcome, Settings, run_programs
from tests.conformance.test_conformance import SUPPORTED

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SAMPLE = ("dedup/first_row_out_of_order", "join/full")
"""Timers that are made anew, and rows that count their partners."""


def check(program: Program, pieces: int, spark: SparkSession) -> None:
    (result,) = run_programs([program], Settings(parallel=1, cut=pieces), spark=spark)
    assert result.verdict.outcome is Outcome.PASSED, "\n".join(lines_of(result))


@pytest.mark.spark
@pytest.mark.parametrize("program", [p for p in SUPPORTED if p.name in SAMPLE], ids=lambda program: program.name)
def test_in_two_pieces(program: Program, spark: SparkSession) -> None:
    pieces = cut_program(program, 2)
    assert pieces is not None
    with pieces:
        assert pieces.count == 2
    check(program, 2, spark)


@pytest.mark.spark
@pytest.mark.long
@pytest.mark.parametrize("pieces", [2, 5])
@pytest.mark.parametrize("program", SUPPORTED, ids=lambda program: program.name)
def test_in_pieces(program: Program, pieces: int, spark: SparkSession) -> None:
    check(program, pieces, spark)
