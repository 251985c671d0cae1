"""``python -m tests.flink_suites [--update] [CLASS…]``: runs the cases, and compares with the ledger."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rekindle.spark.session import SMALL_PROGRAMS, session
from tests.flink_suites.answers import verdicts
from tests.flink_suites.cases import read
from tests.flink_suites.flink import expressions, specifications
from tests.flink_suites.ledger import changes, keep, stored


def main(arguments: Sequence[str]) -> None:
    """Run all cases, or those of some classes; exit code 1 if one is not as the ledger says."""
    wanted = [each for each in arguments if not each.startswith("-")]
    every = [*read(specifications()), *read(expressions())]
    cases = [case for case in every if not wanted or case.suite in wanted]
    ledger, spark = stored(), session(settings=SMALL_PROGRAMS)
    problems: dict[str, str] = {}
    for case, problem in verdicts(cases, spark):
        problems[case.id] = problem
        if problem and case.id not in ledger:
            print(f"{case.id}: {case.sql}\n    {problem}", flush=True)
    passed = sum(not problem for problem in problems.values())
    print(f"{passed} of {len(problems)} cases pass")
    if "--update" in arguments:
        keep(cases, problems)
        return
    told = list(changes(ledger, problems))
    print("\n".join(told))
    sys.exit(1 if told else 0)


main(sys.argv[1:])
