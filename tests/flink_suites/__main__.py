"""``python -m tests.flink_suites [--update] [CLASS…]``: runs the cases, and compares with the ledger."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import groupby

from rekindle.spark.session import SMALL_PROGRAMS, session
from tests.flink_suites.answers import verdicts
from tests.flink_suites.cases import read
from tests.flink_suites.flink import expressions, specifications
from tests.flink_suites.ledger import Listed, changes, keep, stored
from tests.flink_suites.statements import read_statements, statement_problems


def main(arguments: Sequence[str]) -> None:
    """Run all cases, or those of some classes; exit code 1 if one is not as the ledger says."""
    wanted = [each for each in arguments if not each.startswith("-")]
    ledger, problems = stored(), dict[str, str]()
    for _, group in groupby(_problems(wanted), key=lambda pair: pair[0].suite):
        cases = list[Listed]()
        for case, problem in group:
            cases.append(case)
            problems[case.id] = problem
            if problem and case.id not in ledger:
                print(f"{case.id}: {case.sql}\n    {problem}", flush=True)
        if "--update" in arguments:
            keep(cases, problems)
    print(f"{sum(not problem for problem in problems.values())} of {len(problems)} cases pass")
    if "--update" not in arguments:
        told = list(changes(ledger, problems))
        print("\n".join(told))
        sys.exit(1 if told else 0)


def _problems(wanted: Sequence[str]) -> Iterator[tuple[Listed, str]]:
    """Each case of the wanted classes, of all if none is, with what is wrong about it."""
    yield from statement_problems(each for each in read_statements() if not wanted or each.suite in wanted)
    every = [*read(specifications()), *read(expressions())]
    cases = [case for case in every if not wanted or case.suite in wanted]
    if cases:
        yield from verdicts(cases, session(settings=SMALL_PROGRAMS))


main(sys.argv[1:])
