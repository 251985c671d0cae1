"""RAND, RAND_INTEGER and UUID are computed once a row for each place where they are written."""

from __future__ import annotations

from itertools import pairwise

import pytest

from execnodes.core.expressions import Call, Expression
from execnodes.functions import is_deterministic, lower
from tests.functions.evaluator import Columns, Evaluator, f


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


C = Columns(a="INT", b="INT")
# What Flink 2.3 gives: seed, bound, RAND(a), RAND_INTEGER(a, b).
OF_SEEDS = [
    (1, 100, 0.7308781907032909, 85),
    (1, 100, 0.7308781907032909, 85),
    (3, 100, 0.731057369148862, 34),
    (4, 100, 0.7306094602878371, 62),
    (-1, 64, 0.26894263088050496, 17),
    (0, 1, 0.730967787376657, 0),
    (2147483647, 1000000000, 0.6201007799387834, 331656281),
    (-2147483648, 1073741825, 0.37980963831837855, 815634992),
    (42, 2147483647, 0.7275636800328681, 1562431130),
    (7, 1500000000, 0.7306990420600421, 1371249164),
    (8, 1500000000, 0.7302511331990172, 1281814930),
    (9, 1500000000, 0.7301615514268123, 542735596),
    (10, 1610612737, 0.7304302967434272, 1568587113),
    (11, 1610612737, 0.7303407149712222, 1568394738),
    (12, 1073741825, 0.7298928061101974, 128478812),
    (None, 100, None, None),
]


@pytest.mark.spark
def test_a_seed_of_the_row_gives_the_numbers_of_java(evaluate: Evaluator) -> None:
    rows = [{"a": seed, "b": bound} for seed, bound, _, _ in OF_SEEDS]
    found = evaluate([f("RAND", C.a), f("RAND_INTEGER", C.a, C.b)], rows, C)
    assert found == [[number, integer] for _, _, number, integer in OF_SEEDS]


@pytest.mark.spark
def test_a_constant_seed_gives_the_numbers_of_java_one_after_the_other(evaluate: Evaluator) -> None:
    # What Flink 2.3 gives: RAND(5), RAND_INTEGER(5, 100).
    numbers = [
        [0.730519863614471, 87],
        [0.08825840967622589, 92],
        [0.4889045498516358, 74],
        [0.461837214623537, 24],
    ]
    calls = [f("RAND", 5), f("RAND_INTEGER", 5, 100), f("RAND", None)]
    found = evaluate(calls, [{"a": a, "b": 0} for a in (1, 2, 3, 4)], C)
    # Each task begins with the first number.
    places = [numbers.index(row[:2]) for row in found]
    assert places[:2] == [0, 1]
    assert all(place in (0, before + 1) for before, place in pairwise(places))
    assert [row[2] for row in found] == [None] * 4


def test_seeds_have_a_version_of_their_own() -> None:
    made = [f("RAND"), f("RAND", 1), f("RAND_INTEGER", 5), f("RAND_INTEGER", 1, C.b)]
    assert [each.internal_name for each in made if isinstance(each, Call)] == [
        "$RAND$1",
        "$RAND$2",
        "$RAND_INTEGER$1",
        "$RAND_INTEGER$2",
    ]
