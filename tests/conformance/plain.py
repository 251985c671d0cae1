"""Runs programs without options and Spark settings of tests: ``python -m tests.conformance.plain NAME…``."""

from __future__ import annotations

import sys

from execnodes.core.options import OPTIONS
from rekindle.spark.session import session
from rekindle.testing.programs import Program
from rekindle.testing.report import lines_of
from rekindle.testing.runner import Outcome, Settings, run_programs
from tests.conformance.unsupported import PROGRAMS, listed

SAMPLE = (
    "calc/cast_numbers", "cdc/top_n", "group-aggregate/cube", "join/full", "window/filtered_last_row",
)  # fmt: skip
"""A program of each kind of state; their rows depend on no late row."""


def programs() -> list[Program]:
    """All programs without event time: what is late goes by micro-batches with the defaults."""
    return [each for each in PROGRAMS if each.name not in listed() and "WATERMARK FOR" not in each.sql]


def run(names: list[str]) -> list[str]:
    """Run programs in a session that nothing is set for; lines of those that fail."""
    chosen = [each for each in PROGRAMS if each.name in names]
    unset = {key: OPTIONS[key].default for key in ("table.exec.lateness.granularity", "parallelism.default")}
    results = run_programs(chosen, Settings(unset, parallel=2), spark=session())
    failed = [result for result in results if result.verdict.outcome is not Outcome.PASSED]
    return [line for result in failed for line in lines_of(result)]


if __name__ == "__main__":
    problems = run(sys.argv[1:])
    print("\n".join(problems))
    sys.exit(bool(problems))
