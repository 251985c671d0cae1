"""Programs that Flink has answered, in micro-batches over segments: their rows do not change.

Each micro-batch is of one task, by a program that stands or not, or of several by chance; sizes of micro-batches are
drawn, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from rekindle.connectors.file_positions import FilePositions
from rekindle.engine.inputs import FEW_BYTES
from rekindle.testing.cut import MicroBatches
from rekindle.testing.programs import Mode, Program
from rekindle.testing.report import lines_of
from rekindle.testing.runner import Outcome, Settings, run_programs
from tests.conformance.test_conformance import SUPPORTED
from tests.conformance.test_modes import AS_USERS, PUNCTUAL, SEED
from tests.conformance.unsupported import has_event_time

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def some(programs: Sequence[Any], of: int) -> list[Any]:
    """Of so many programs one is in the fast suite."""
    return [
        pytest.param(each, id=str(getattr(each, "name", each)), marks=[pytest.mark.long] * bool(number % of))
        for number, each in enumerate(programs)
    ]


def check(program: Program, settings: Settings, spark: SparkSession) -> None:
    (result,) = run_programs([program], settings, spark=spark)
    assert result.verdict.outcome is Outcome.PASSED, "\n".join(lines_of(result))


@pytest.mark.spark
@pytest.mark.parametrize(
    "program", some([each for each in SUPPORTED if each in PUNCTUAL or not has_event_time(each)], 8)
)
def test_random_micro_batches_of_one_task_or_several(
    program: Program, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    random = Random(f"{SEED} {program.name}")

    def size(self: FilePositions, start: object, end: object) -> int:
        return random.choice((0, FEW_BYTES + 1, 2**26))

    def told(self: FilePositions, start: object, end: object) -> object:
        return random.choice((None, tell(self, start, end)))

    tell = FilePositions.told
    monkeypatch.setattr(FilePositions, "size", size)
    monkeypatch.setattr(FilePositions, "told", told)
    options = {**AS_USERS, "parallelism.default": "3"}
    check(program, Settings(options, Mode.DEFAULT, parallel=1, micro_batches=MicroBatches(SEED)), spark)
