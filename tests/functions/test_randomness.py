"""RAND, RAND_INTEGER and UUID are computed once a row for each place where they are written."""

from __future__ import annotations

import pytest

from execnodes.core.expressions import Expression
from execnodes.functions import is_deterministic, lower
from tests.functions.evaluator import f


@pytest.mark.parametrize(
    "made",
    [
        f("LN", f("RAND")),
        f("TRUNCATE", f("RAND"), 2),
        f("GREATEST", f("RAND_INTEGER", 3), 1),
        f("REGEXP_EXTRACT", f("UUID"), "a+", 0),
    ],
    ids=["LN", "TRUNCATE", "GREATEST", "REGEXP_EXTRACT"],
)
def test_they_stand_once_in_what_uses_them_twice(made: Expression) -> None:
    assert lower(made, [], "UTC").count("uuid()") == 1
    assert not is_deterministic(made)
