"""Which types hold all values of others."""

from __future__ import annotations

from itertools import product

import pytest

from execnodes.core.types import parse_type
from execnodes.core.widening import Widening, holds, widens
from tests.evolution.widenings import NARROWER, WIDER

PAIRS = [(each.old, each.new) for each in WIDER]
TYPES = [parse_type(each) for each in dict.fromkeys(each for pair in (*PAIRS, *NARROWER) for each in pair)]


@pytest.mark.parametrize(("old", "new"), PAIRS)
def test_types_that_hold_more(old: str, new: str) -> None:
    assert widens(parse_type(old), parse_type(new)) is not None
    assert holds(parse_type(old), parse_type(new))


@pytest.mark.parametrize(("old", "new"), NARROWER)
def test_types_that_do_not(old: str, new: str) -> None:
    assert widens(parse_type(old), parse_type(new)) is None


def test_the_relation_is_a_partial_order() -> None:
    """Each type holds its own values; what holds more than what holds more holds more; never in both directions."""
    assert all(widens(each, each) is Widening.NONE for each in TYPES)
    wider = {(one, other) for one, other in product(TYPES, TYPES) if widens(one, other) is not None}
    chains = [(one, last) for one, middle in wider for other, last in wider if middle == other]
    assert set(chains) <= wider
    both_ways = {(one, other) for one, other in wider if (other, one) in wider and not one.same_values(other)}
    # Fields of a ROW in another order hold the same.
    assert all(widens(one, other) is Widening.FIELDS for one, other in both_ways)


@pytest.mark.parametrize(
    ("old", "new", "how"),
    [
        ("VARCHAR(1)", "STRING", Widening.LENGTH),
        ("TINYINT", "BIGINT", Widening.INTEGER),
        ("DECIMAL(4, 2)", "DECIMAL(5, 2)", Widening.DIGITS),
        ("DECIMAL(4, 2)", "DECIMAL(5, 3)", Widening.SCALE),
        ("DECIMAL(4, 2)", "DECIMAL(8, 3)", Widening.DIGITS | Widening.SCALE),
        ("TIME(0)", "TIME(3)", Widening.FRACTION),
        ("INT NOT NULL", "INT", Widening.NONE),
        ("ARRAY<INT NOT NULL>", "ARRAY<INT>", Widening.NONE),
        ("ARRAY<FLOAT>", "ARRAY<DOUBLE>", Widening.ELEMENTS | Widening.FLOAT),
        ("ROW<a INT, b INT>", "ROW<c INT, b BIGINT, a INT>", Widening.ELEMENTS | Widening.INTEGER | Widening.ADDED
         | Widening.FIELDS),
        ("MAP<VARCHAR(1), ROW<a INT>>", "MAP<STRING, ROW<a INT, b INT>>", Widening.ELEMENTS | Widening.LENGTH
         | Widening.ADDED),
    ],
)  # fmt: skip
def test_in_what_a_type_is_wider(old: str, new: str, how: Widening) -> None:
    assert widens(parse_type(old), parse_type(new)) == how


@pytest.mark.parametrize(
    ("old", "new", "kept"),
    [
        ("INT", "DOUBLE", True), ("BIGINT", "DOUBLE", False), ("SMALLINT", "FLOAT", True), ("INT", "FLOAT", False),
        ("INT", "DECIMAL(10, 0)", True), ("INT", "DECIMAL(10, 1)", False), ("BIGINT", "DECIMAL(19, 0)", True),
        ("INT", "STRING", False),
    ],
)  # fmt: skip
def test_casts_to_other_kinds_that_keep_every_value(old: str, new: str, kept: bool) -> None:
    assert holds(parse_type(old), parse_type(new)) == kept
