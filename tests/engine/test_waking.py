"""Who is woken in a step in which time passes, and when that operator wants to be woken next."""

from __future__ import annotations

import pytest

from rekindle.engine.host import Moment, SegmentContext, _next

W = 100


def moment(*, step: int = 1, chained: bool = True, held: frozenset[str] = frozenset()) -> Moment:
    return Moment((7, step), W, 5, frozenset(), {}, {("a", 0): W, ("a", 1): W + 1, ("b", 0): 3}, chained, held)


def context(subtask: int | None, asked: int | None) -> SegmentContext:
    subtasks = frozenset() if subtask is None else frozenset({subtask})
    return SegmentContext(None, None, None, subtasks, W, 5, asked)  # type: ignore[arg-type]  # reads no state


def test_those_are_due_whose_time_has_come() -> None:
    assert moment().due("a") == {0}
    assert moment().due("b") == {0}
    assert moment(step=0).due("a") == frozenset()
    assert moment(held=frozenset({"a"})).due("a") == frozenset()


@pytest.mark.parametrize(("asked", "now"), [(W, True), (W + 1, False), (None, False)])
def test_who_asks_for_a_time_that_has_come_is_woken_behind_the_rows(asked: int | None, now: bool) -> None:
    assert moment().has_reached("a", asked) is now
    assert not moment(step=0).has_reached("a", asked)
    assert not moment(held=frozenset({"a"})).has_reached("a", asked)
    assert not moment(chained=False).has_reached("a", asked)


@pytest.mark.parametrize(
    ("given", "woken", "chained", "then"),
    [
        # Of rows alone: what was asked for before holds.
        (context(0, W + 9), context(None, None), True, W),
        (context(1, W + 9), context(None, None), True, W + 1),
        # Woken behind its rows: all that was asked for until now has been seen to.
        (context(0, W - 3), context(0, None), True, None),
        (context(0, W - 3), context(0, W + 20), True, W + 20),
        (context(0, W + 5), context(0, W + 20), True, W + 5),
        (context(None, None), context(0, W - 1), True, W + 1),
        # As releases before 2.3 had it.
        (context(0, W - 3), context(0, None), False, W + 1),
    ],
)
def test_when_it_is_woken_next(given: SegmentContext, woken: SegmentContext, chained: bool, then: int | None) -> None:
    subtask = min(given.subtasks | woken.subtasks)
    assert _next("a", subtask, moment(chained=chained), given, woken) == then
