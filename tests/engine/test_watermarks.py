"""What sources have seen, as a watermark: a table of what happens, and what follows."""

from __future__ import annotations

import pytest

from execnodes.state.operator import DRAINED
from rekindle.engine.watermarks import Watermarks


def test_it_is_the_least_of_all_sources() -> None:
    time = Watermarks({"a": 0, "b": 0}, {}, (), None, 0)
    time.saw("a", 100, 1)
    assert time.at(()) is None, "nothing is known of b"
    time.saw("b", 40, 2)
    assert time.at(()) == 40
    time.saw("b", 30, 3)
    time.saw("b", None, 4)
    assert time.at(()) == 40, "it does not go back"
    time.saw("b", 500, 5)
    assert time.at(()) == 100


def test_a_silent_source_does_not_hold_it_back() -> None:
    time = Watermarks({"a": 0, "b": 10}, {}, (), None, 0)
    time.saw("a", 100, 5)
    assert time.idle(9) == frozenset()
    assert time.idle(10) == {"b"}
    assert time.at(time.idle(10)) == 100
    time.saw("b", 20, 12)
    assert time.idle(21) == frozenset()
    assert time.at(time.idle(21)) == 100, "what it gives now may be late"
    time.saw("a", 300, 22)
    assert time.at(time.idle(21)) == 100, "it counts again"
    assert time.at(time.idle(22)) == 300


def test_when_all_are_idle_time_stands_still() -> None:
    time = Watermarks({"a": 10, "b": 10}, {"a": 7, "b": 9}, (), 5, 0)
    assert time.idle(10) == {"a", "b"}
    assert time.at(time.idle(10)) == 5


@pytest.mark.parametrize(("ended", "expected"), [((), 7), (("a",), 9), (("a", "b"), DRAINED)])
def test_at_its_end_a_source_has_no_say(ended: tuple[str, ...], expected: int) -> None:
    assert Watermarks({"a": 0, "b": 0}, {"a": 7, "b": 9}, ended, None, 0).at(()) == expected


def test_without_sources_that_move_it_there_is_none() -> None:
    assert Watermarks({}, {}, (), None, 0).at(()) is None
