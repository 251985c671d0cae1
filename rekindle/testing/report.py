"""What `rekindle test` prints."""

from __future__ import annotations

import json
from collections.abc import Sequence
from statistics import median

from rekindle.testing.runner import Assessment, Outcome, Result


def lines_of(result: Result) -> list[str]:
    """``PASS area/name (0.8 s)``, and below it why not."""
    verdict = result.verdict
    first = f"{verdict.outcome} {result.program.name} ({result.seconds:.1f} s)"
    if verdict.outcome is Outcome.PASSED:
        return [f"{first}: refused, as it must be" if verdict.detail else first]
    return [first, *(f"    {line}" for line in verdict.detail)]


def failed(results: Sequence[Result], *, allow_unsupported: bool) -> int:
    """How many count as failures."""
    bad = {Outcome.FAILED} if allow_unsupported else {Outcome.FAILED, Outcome.UNSUPPORTED}
    return sum(result.verdict.outcome in bad for result in results)


def summary(results: Sequence[Result], *, allow_unsupported: bool) -> list[str]:
    """``N passed, N failed`` last; unsupported programs are among the failed ones unless they are allowed.

    Before it stands the median of the seconds of those that ran and passed, if they are two or more.
    """
    unsupported = sum(result.verdict.outcome is Outcome.UNSUPPORTED for result in results)
    passed = sum(result.verdict.outcome is Outcome.PASSED for result in results)
    counted = f"{unsupported} unsupported, {'not counted' if allow_unsupported else 'counted as failed'}"
    last = f"{passed} passed, {failed(results, allow_unsupported=allow_unsupported)} failed"
    seconds = [each.seconds for each in results if each.verdict == Assessment(Outcome.PASSED)]
    typical = [f"median of a program: {median(seconds):.2f} s"] if len(seconds) > 1 else []
    return [*([counted] if unsupported else []), *typical, last]


def as_json(results: Sequence[Result], *, allow_unsupported: bool) -> str:
    """Everything as one JSON object."""
    programs = [
        {
            "name": result.program.name,
            "folder": str(result.program.folder),
            "outcome": _WORDS[result.verdict.outcome],
            "seconds": round(result.seconds, 3),
            "detail": list(result.verdict.detail),
        }
        for result in results
    ]
    passed = sum(result.verdict.outcome is Outcome.PASSED for result in results)
    counts = {"passed": passed, "failed": failed(results, allow_unsupported=allow_unsupported)}
    return json.dumps({**counts, "programs": programs}, indent=2, ensure_ascii=False)


_WORDS = {Outcome.PASSED: "passed", Outcome.FAILED: "failed", Outcome.UNSUPPORTED: "unsupported"}
