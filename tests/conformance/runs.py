"""Runs cases of the matrix, and says which program fails and why."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from random import Random
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import RekindleError
from execnodes.core.types import parse_type, row
from plans.format.codec import encode
from rekindle.connectors.file_positions import FilePositions
from rekindle.engine.inputs import FEW_BYTES
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.testing import runner
from rekindle.testing.report import lines_of
from rekindle.testing.runner import Outcome, Settings, run_programs
from tests.conformance.fused import judge_together
from tests.conformance.matrix import SEED, Case, settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

Rewrite = Callable[[CompiledPlan], CompiledPlan]
Naming = Callable[[int, int, int], str]
"""Id of a node, number of its columns, index of one: its name."""
_SIZES = {"few": (0,), "small": (FEW_BYTES + 1,), "large": (2**26,), "mixed": (0, FEW_BYTES + 1, 2**26)}
"""Bytes that sources say a micro-batch has."""
_NAMED_OUTSIDE = ("table-source", "sink")
"""Nodes whose columns are those of a table."""


def never_the_same(node: int, width: int, index: int) -> str:
    """No column is called as that of the input is."""
    return f"x{node}_{index}"


def from_the_end(node: int, width: int, index: int) -> str:
    """What a node adds behind the columns of its input is called as one of these."""
    return f"x{width - 1 - index}"


NAMINGS: dict[str, Naming] = {"never_the_same": never_the_same, "from_the_end": from_the_end}


def rename(plan: CompiledPlan, naming: Naming) -> CompiledPlan:
    """The plan with other names for the columns of its nodes."""
    document = json.loads(encode(plan.graph))
    for node in document["nodes"]:
        if not any(each in node["type"] for each in _NAMED_OUTSIDE):
            fields = parse_type(node["outputType"]).fields
            named = (replace(each, name=naming(node["id"], len(fields), at)) for at, each in enumerate(fields))
            node["outputType"] = str(row(*named))
    return CompiledPlan(json.dumps(document))


@contextmanager
def patched(case: Case, *, seed: int = SEED) -> Iterator[Rewrite]:
    """Sizes, kind of program and names of a case; what plans are rewritten by."""
    random, tell, execute = Random(f"{seed} {case.name}"), FilePositions.told, runner.execute
    naming = NAMINGS.get(case.way["names"])
    sizes, program = _SIZES[case.way["size"]], case.way["program"]

    def size(self: FilePositions, start: object, end: object) -> int:
        return random.choice(sizes)

    def told(self: FilePositions, start: object, end: object) -> object:
        is_built = program == "built" or (program == "mixed" and random.random() < 0.5)
        return None if is_built else tell(self, start, end)

    def rewrite(plan: CompiledPlan) -> CompiledPlan:
        return plan if naming is None else rename(plan, naming)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FilePositions, "size", size)
        patch.setattr(FilePositions, "told", told)
        patch.setattr(runner, "execute", lambda plan, *rest: execute(rewrite(plan), *rest))
        yield rewrite


def problems(case: Case, spark: SparkSession, *, seed: int = SEED) -> list[str]:
    """Lines about programs that give other rows; those of a job that fails are run one by one, to name them."""
    given = settings(case, seed=seed)
    with patched(case, seed=seed) as rewrite:
        if len(case.programs) == 1:
            return run_all(case, given, spark)
        together = _problems_together(case, given, spark, rewrite)
        alone = run_all(case, given, spark) if together else []
    return alone or together


def _problems_together(case: Case, given: Settings, spark: SparkSession, rewrite: Rewrite) -> list[str]:
    try:
        verdicts = judge_together(case.programs, given, spark, rewrite)
    except RekindleError as error:
        return [f"only together ({case}): {' '.join(each.name for each in case.programs)}", str(error)]
    failed = zip(case.programs, verdicts, strict=True)
    wrong = [
        f"{program.name}: {verdict.detail}" for program, verdict in failed if verdict.outcome is not Outcome.PASSED
    ]
    return [f"only together ({case})", *wrong] if wrong else []


def run_all(case: Case, given: Settings, spark: SparkSession) -> list[str]:
    """Lines about programs that fail by themselves."""
    results = run_programs(case.programs, given, spark=spark)
    failed = [each for each in results if each.verdict.outcome is not Outcome.PASSED]
    return [line for each in failed for line in (str(case), *lines_of(each))]
