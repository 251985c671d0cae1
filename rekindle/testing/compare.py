"""Expected rows against those that came: as multisets, exact but for the last digits of floating-point numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from execnodes.core.words import counted
from rekindle.results.json_values import Json
from rekindle.testing.materialize import Row, canonical

RELATIVE_NOISE = 1e-13
"""Sums of floating-point numbers depend on the order of the additions, which no engine promises."""


@dataclass(frozen=True)
class Difference:
    """Rows of one sink that do not fit; empty when all is well."""

    lacking: tuple[str, ...]
    """Expected, but not there; canonical texts, sorted."""
    surplus: tuple[str, ...]
    """There, but not expected."""

    def __bool__(self) -> bool:
        return bool(self.lacking or self.surplus)

    def lines(self, most: int = 5) -> list[str]:
        """The first rows of each side, for people."""
        lacking = counted(len(self.lacking), "expected row is", "expected rows are")
        counts = f"{lacking} missing, {counted(len(self.surplus), 'row is', 'rows are')} too many"
        shown = [f"- {text}" for text in self.lacking[:most]] + [f"+ {text}" for text in self.surplus[:most]]
        return [counts, *shown]


def compare(expected: Iterable[Row], found: Iterable[Row]) -> Difference:
    """Which rows lack and which are too many."""
    wanted, given = {}, {}
    counts: Counter[str] = Counter()
    for row in expected:
        text = canonical(row)
        wanted[text] = row
        counts[text] += 1
    for row in found:
        text = canonical(row)
        given[text] = row
        counts[text] -= 1
    lacking = sorted(text for text, count in counts.items() for _ in range(count))
    surplus = sorted(text for text, count in counts.items() for _ in range(-count))
    left: list[str] = []
    for text in lacking:
        near = next((other for other in surplus if close(wanted[text], given[other])), None)
        if near is None:
            left.append(text)
        else:
            surplus.remove(near)
    return Difference(tuple(left), tuple(surplus))


def close(one: Json, other: Json) -> bool:
    """Equal, floating-point numbers up to `RELATIVE_NOISE`."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=RELATIVE_NOISE)
    if isinstance(one, list) and isinstance(other, list):
        return _all_close(one, other)
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(close(each, other[name]) for name, each in one.items())
    return type(one) is type(other) and one == other


def _all_close(one: Sequence[Json], other: Sequence[Json]) -> bool:
    return len(one) == len(other) and all(close(left, right) for left, right in zip(one, other, strict=True))
