"""Programs that Flink has answered: Rekindle gives the same rows, refuses them too, or is listed as not able to yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rekindle.testing.programs import Mode, Program
from rekindle.testing.report import lines_of
from rekindle.testing.runner import Outcome, Settings, run_programs
from tests.conformance.unsupported import PROGRAMS, has_event_time, listed, unsupported

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SUPPORTED = [each for each in PROGRAMS if each.name not in listed()]


def test_the_list_of_unsupported_programs_is_right() -> None:
    """No program that once compiled may stop to; one that compiles now leaves the list (`make goldens`)."""
    assert {each.name for each in PROGRAMS if unsupported(each)} == listed()


def rows_too(program: Program) -> bool:
    """Whether it runs by rows in the fast suite; what has no late row runs there as users run it (`test_modes.py`)."""
    timed = [each.name for each in SUPPORTED if has_event_time(each) and each.late is None and each.refusal is None]
    return program.name not in timed or program.name in timed[::3]


@pytest.mark.spark
@pytest.mark.parametrize(
    "program",
    [pytest.param(each, id=each.name, marks=[pytest.mark.long] * (not rows_too(each))) for each in SUPPORTED],
)
def test_program(program: Program, spark: SparkSession) -> None:
    """Those with event time by rows; `test_modes.py` runs them as users do."""
    mode = Mode.ROW if has_event_time(program) else Mode.DEFAULT
    (result,) = run_programs([program], Settings(mode=mode, parallel=1, round_trip=True), spark=spark)
    assert result.verdict.outcome is Outcome.PASSED, "\n".join(lines_of(result))
