"""Functions of other systems lead to those that there are."""

import re

import pytest

from execnodes.aggregates.registry import is_aggregate
from execnodes.core.errors import SqlError
from execnodes.functions import known
from execnodes.functions.foreign import OF_OTHERS
from execnodes.functions.registry import newest

_OF_QUERIES = {"UNNEST", "TUMBLE", "HOP", "SESSION"}


def test_hints_name_functions_that_there_are() -> None:
    for name, hint in OF_OTHERS.items():
        assert newest(name) is None, f"{name} is a function here"
        assert not is_aggregate(name), f"{name} is an aggregate function here"
        for meant in re.findall(r"[A-Z_]+(?=\()", hint):
            assert meant in _OF_QUERIES or newest(meant) or is_aggregate(meant), meant


@pytest.mark.parametrize("name", ["nvl", "EXPLODE", "Tumble_Start", "median"])
def test_hints_are_shown(name: str) -> None:
    with pytest.raises(SqlError) as raised:
        known(name)
    assert raised.value.hint == OF_OTHERS[name.upper()]
