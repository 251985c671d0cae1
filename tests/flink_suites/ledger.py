"""Cases that do not pass, each with one of few reasons, and the score."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

from tests.flink_suites.flink import HERE

LEDGER = HERE / "ledger.txt"
SCORE = HERE / "score.json"
REASONS = {
    "missing": "not supported, and documented so",
    "java": "a function, type or value of Java that the test brings along",
    "api": "what Flink's Table API makes of an expression; its SQL gives what this engine gives",
    "digits": "a DOUBLE that differs in the last of its 17 digits",
    "input": "the test's row holds no value of its column's type",
    "nanoseconds": "Spark keeps microseconds",
    "lenient": "Flink refuses it; this engine takes it",
    "unasked": "Flink's parser takes it, its planner was not asked, as tables and columns of the text are not there",
    "flink": "Flink's value is a mistake",
    "todo": "to be done",
}


class Listed(Protocol):
    """What the ledger has to know of a case."""

    @property
    def id(self) -> str: ...

    @property
    def suite(self) -> str: ...

    @property
    def sql(self) -> str: ...

    @property
    def functions(self) -> tuple[str, ...]: ...


def stored() -> dict[str, str]:
    """Reason of each case that does not pass."""
    return {case: line.split(maxsplit=2)[1] for case, line in _lines().items()}


def changes(ledger: Mapping[str, str], problems: Mapping[str, str]) -> Iterator[str]:
    """What the ledger does not say of the cases that were run."""
    for case, problem in problems.items():
        if problem and case not in ledger:
            yield f"{case} fails and is not in the ledger: {problem}"
        elif not problem and case in ledger:
            yield f"{case} passes and is in the ledger"


def keep(cases: Sequence[Listed], problems: Mapping[str, str]) -> None:
    """Write the ledger of a run, reasons that are known kept, and the score."""
    known = stored()
    of_run = {case.id for case in cases}
    kept = {case: line for case, line in _lines().items() if case not in of_run}
    for case in cases:
        problem = problems[case.id]
        if problem:
            reason = known.get(case.id) or guessed(case, problem)
            kept[case.id] = f"{case.id} {reason} {problem}"
    order = {case.id: at for at, case in enumerate(cases)}
    head = [f"# {reason}: {meaning}" for reason, meaning in REASONS.items()]
    lines = [kept[case] for case in sorted(kept, key=lambda case: order.get(case, -1))]
    LEDGER.write_text("\n".join([*head, *lines, ""]), encoding="utf-8")
    keep_score(cases, problems)


def keep_score(cases: Sequence[Listed], problems: Mapping[str, str]) -> None:
    """Write how many cases of each class pass, and how many do not for which reason."""
    score = json.loads(SCORE.read_text(encoding="utf-8")) if SCORE.exists() else {}
    reasons = stored()
    for suite in sorted({case.suite for case in cases}):
        of_suite = [case.id for case in cases if case.suite == suite]
        left = [reasons[case] for case in of_suite if case in reasons]
        passed = sum(not problems[case] for case in of_suite)
        score[suite] = {"cases": len(of_suite), "pass": passed, **{r: left.count(r) for r in REASONS if r in left}}
    SCORE.write_text(f"{json.dumps(dict(sorted(score.items())), indent=2)}\n", encoding="utf-8")


def guessed(case: Listed, problem: str) -> str:
    """A first reason, to be looked at."""
    if any(re.search(rf"\b{re.escape(name)}\b", case.sql) for name in case.functions):
        return "java"
    about = f"{problem} {case.sql}"
    found = next((reason for pattern, reason in _SIGNS.items() if re.search(pattern, about)), None)
    return found or ("lenient" if problem.startswith("taken:") else "todo")


_SIGNS = {
    r"refused: .*(?:(?:STREAM|MATCH_RECOGNIZE|PIVOT|TABLESAMPLE|RECURSIVE|\(SELECT …\)|ROCEDURES|procedures) is not|"
    r"found (?:SELECT|using|\{|')|(?:call|delete|update|merge|value) does not begin|value does not belong|"
    r"is not Flink's SQL|GROUP BY (?:ALL|DISTINCT)|found ,.*[mM]ultiset\[)": "missing",
    r"\[not asked\]": "unasked",
    r"'java'|a java is|is a RAW": "java",
    r"no value of type|not a value of type": "input",
    r"fractional digits|microseconds": "nanoseconds",
    r"BITMAP|STRUCTURED|is not supported|unknown function|its type is not known": "missing",
}


def _lines() -> dict[str, str]:
    lines = LEDGER.read_text(encoding="utf-8").splitlines() if LEDGER.exists() else []
    return {line.split(maxsplit=1)[0]: line for line in lines if line and not line.startswith("#")}
