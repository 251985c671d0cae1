"""Functions that are told apart where their operands become wider."""

from __future__ import annotations

from execnodes.aggregates.registry import FUNCTIONS, WINDOW_FUNCTIONS
from execnodes.functions.registry import functions
from plans.compatibility import widened_calls


def test_they_exist() -> None:
    """A name that is misspelt would change nothing."""
    scalar = {name for name, _ in functions()}
    aggregates = {*FUNCTIONS, *WINDOW_FUNCTIONS}
    listed = {name: value for name, value in vars(widened_calls).items() if isinstance(value, frozenset)}
    assert len(listed) >= 8
    for name, value in listed.items():
        assert value <= scalar or value <= aggregates, name
    assert widened_calls._HASHING in scalar
