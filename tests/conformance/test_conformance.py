"""Programs that Flink has answered: Rekindle gives the same rows, refuses them too, or says that it cannot yet."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rekindle.testing.programs import Program, discover
from rekindle.testing.report import areas, lines_of, summary
from rekindle.testing.runner import Outcome, Result, Settings, run_programs

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PROGRAMS = discover([Path(__file__).parent / "programs"])
pytestmark = [pytest.mark.spark, pytest.mark.xdist_group("conformance")]


@pytest.fixture(scope="session")
def results(request: pytest.FixtureRequest, spark: SparkSession) -> Mapping[str, Result]:
    """All programs that are selected, run in one session, several at a time."""
    chosen = {each.name for each in PROGRAMS if any(each.name in item.name for item in request.session.items)}
    programs = [each for each in PROGRAMS if each.name in chosen]
    ran = run_programs(programs, Settings(parallel=2, round_trip=True), spark=spark)
    print("\n".join(["", *areas(ran), *summary(ran, allow_unsupported=True)]))
    return {result.program.name: result for result in ran}


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.name)
def test_program(program: Program, results: Mapping[str, Result]) -> None:
    result = results[program.name]
    if result.verdict.outcome is Outcome.UNSUPPORTED:
        pytest.skip(f"refused at compile time: {result.verdict.detail[0]}")
    if program.known_difference is not None:
        assert result.verdict.outcome is Outcome.FAILED, "it passes: remove differs.txt"
        pytest.xfail(program.known_difference)
    assert result.verdict.outcome is Outcome.PASSED, "\n".join(lines_of(result))
