"""The short form of the hunt: a few hundred cases of each fuzzer, and everything that was a finding once."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from execnodes.core.errors import PlanError
from tests.fuzz.frame import Fuzzer, TooSlow, attempt, fuzzers, hunt, kept

SEED = 20
SLACK = 6.0
"""The suite also runs on machines that are slow or busy; `make fuzz` takes the limits as they are."""
ALL = fuzzers()


@pytest.mark.parametrize("name", ALL)
def test_a_few_cases(name: str) -> None:
    outcome = hunt(ALL[name], SEED, count=ALL[name].quick, most=3, slack=SLACK)
    assert not outcome.findings, outcome.findings
    assert outcome.refused > 0, "nothing was refused: the cases are not hostile"


@pytest.mark.parametrize("name", ALL)
def test_what_was_found_once(name: str) -> None:
    found = [(case, what) for case in kept(name) if (what := attempt(ALL[name], case, SLACK)[0]) is not None]
    assert not found


def _letters(random: Random) -> str:
    return "".join(random.choices("abcdefgh\n", k=60))


def test_findings_are_made_small() -> None:
    def run(text: str) -> None:
        if "a" in text and "b" in text:
            raise ValueError("both")

    (finding,) = hunt(Fuzzer(_letters, run), 1, count=50).findings
    assert sorted(finding.case) == ["a", "b"]
    assert "ValueError at test_fuzz.py" in finding.what


def test_refusals_are_no_findings_and_cases_come_again() -> None:
    def run(text: str) -> None:
        raise PlanError(text)

    outcome = hunt(Fuzzer(_letters, run), 1, count=5)
    assert (outcome.tried, outcome.refused, outcome.findings) == (5, 5, [])


def test_what_never_ends_is_a_finding() -> None:
    def run(text: str) -> None:
        while text:
            pass

    def smaller(text: str) -> Iterator[str]:
        return iter(())

    (finding,) = hunt(Fuzzer(_letters, run, smaller, slowest=0.1), 1, count=1).findings
    assert finding.what == f"{TooSlow.__name__}: more than 0.1 s"
