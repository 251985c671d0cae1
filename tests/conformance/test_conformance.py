"""Programs that Flink has answered: Rekindle gives the same rows, refuses them too, or says that it cannot yet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rekindle.testing.programs import Program, discover
from rekindle.testing.report import lines_of
from rekindle.testing.runner import Outcome, Settings, run_programs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAMS = discover([Path(__file__).parent / "programs"])


@pytest.mark.spark
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program(program: Program, spark: SparkSession) -> None:
    (result,) = run_programs([program], Settings(parallel=1, round_trip=True), spark=spark)
    if result.verdict.outcome is Outcome.UNSUPPORTED:
        pytest.skip(f"refused at compile time: {result.verdict.detail[0]}")
    assert result.verdict.outcome is Outcome.PASSED, "\n".join(lines_of(result))
