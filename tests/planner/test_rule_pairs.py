"""Every rule has pairs of plans as text, and they are what the rule does."""

from __future__ import annotations

from pathlib import Path

import pytest

import planner.rules
from planner.rules import BATCH_PHASES, PHASES
from tests.planner.rule_pairs import FOLDER, QUERIES, known_rules, render

HELPERS = {"__init__", "comparison", "normalize_changelog", "replace_first_rows"}


@pytest.mark.parametrize("name", QUERIES)
def test_pairs_are_what_the_rule_does(name: str) -> None:
    assert (FOLDER / f"{name}.txt").read_text(encoding="utf-8") == render(name), "run make goldens"


def test_every_rule_runs_in_a_phase_and_has_pairs() -> None:
    modules = {each.stem for each in Path(planner.rules.__file__).parent.glob("*.py")} - HELPERS
    assert set(known_rules()) == modules == set(QUERIES)


def test_every_run_says_why() -> None:
    names = [phase.name for phase in PHASES]
    assert names == [phase.name for phase in BATCH_PHASES] == ["normalise", "recognise", "push", "prune"]
    assert all(run.why for phase in (*PHASES, *BATCH_PHASES) for run in phase.runs)
