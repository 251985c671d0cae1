"""State that an operator declares it used to keep goes on; the same state without that does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from execnodes.core.meaning import StateColumn, StateMeaning
from execnodes.terms.term import leaf
from plans.compatibility.compare import Comparison, Verdict, compare


def state(name: str, since: str, *columns: str, earlier: tuple[StateMeaning, ...] = ()) -> StateMeaning:
    """Of one operator; columns mean what they are called."""
    parts = {"operator": leaf("operator", f"stream-exec-made-up, state of {since}"), "input": leaf("table", "t")}
    return StateMeaning(
        "4_made-up",
        name,
        parts,
        tuple(StateColumn(each, "BIGINT", leaf("column", f"t.{each}")) for each in columns),
        earlier=earlier,
    )


WHOLE = state("wholeState", "1.0", "k", "v", "done")
OPEN = state("openState", "1.1", "k", "v", earlier=(WHOLE,))
SEEN = state("seenState", "1.1", "k", earlier=(WHOLE,))
LATER = state("laterState", "1.2", "k", "v", earlier=(OPEN,))


def found(comparison: Comparison) -> dict[str, tuple[str, str]]:
    return {each.state: (each.fate, each.was) for each in comparison.judgements}


def test_one_old_state_becomes_two() -> None:
    comparison = compare([WHOLE], [OPEN, SEEN])
    assert comparison.verdict is Verdict.FULL
    assert found(comparison) == {"openState": ("convert", "wholeState"), "seenState": ("convert", "wholeState")}
    assert all(each.taken_over and "wholeState" in each.reason for each in comparison.judgements)


def test_what_this_release_wrote_is_kept() -> None:
    comparison = compare([replace(OPEN, earlier=()), replace(SEEN, earlier=())], [OPEN, SEEN])
    assert found(comparison) == {"openState": ("keep", ""), "seenState": ("keep", "")}
    assert not any(each.taken_over for each in comparison.judgements)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (WHOLE, [replace(OPEN, earlier=()), replace(SEEN, earlier=())]),
        (WHOLE, [LATER]),
        (replace(WHOLE, parts={**WHOLE.parts, "input": leaf("table", "another")}), [OPEN, SEEN]),
        (state("wholeState", "0.9", "k", "v", "done"), [OPEN, SEEN]),
        (state("wholeState", "1.0", "k", "v"), [OPEN, SEEN]),
        (state("otherState", "1.0", "k", "v", "done"), [OPEN, SEEN]),
    ],
    ids=["not declared", "two releases ago", "another input", "another layout", "a column less", "another name"],
)
def test_what_is_not_declared_does_not_go_on(old: StateMeaning, new: list[StateMeaning]) -> None:
    comparison = compare([old], new)
    assert comparison.verdict is not Verdict.FULL
    assert not any(each.goes_on for each in comparison.judgements)
