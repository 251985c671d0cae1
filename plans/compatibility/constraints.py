"""Columns of a sink that demand less than they did: what rows that were kept for it have lost."""

from __future__ import annotations

from collections.abc import Iterator

from execnodes.core.types import LogicalType, parse_type
from execnodes.core.widening import Widening, widens


def relaxed(old: str, new: str) -> frozenset[str] | None:
    """What was lost, of leaves as sinks say them (two options, then types); None if anything else is demanded."""
    (*options, before), (*others, after) = (text.split(", ", 2) for text in (old, new))
    pairs = list(zip(_types(before), _types(after), strict=False))
    if options != others or len(_types(before)) != len(_types(after)):
        return None
    hows = [widens(one, two) if two.nullable or not one.nullable else None for one, two in pairs]
    if None in hows:
        return None
    return frozenset(_lost(options, pairs, [each for each in hows if each is not None]))


def _lost(options: list[str], pairs: list[tuple[LogicalType, LogicalType]], hows: list[Widening]) -> Iterator[str]:
    nulls, lengths = options
    for (before, after), how in zip(pairs, hows, strict=True):
        if nulls == "DROP" and not before.nullable and after.nullable:
            yield f"rows with NULL in a column that was {before} have been left out"
        if lengths == "TRIM_PAD" and how & Widening.LENGTH:
            yield f"values of a column that was {before} have been cut or filled up"


def _types(text: str) -> list[LogicalType]:
    """Types between commas, of which there are some inside types, too."""
    found, depth, begun, quoted = [], 0, 0, False
    for at, character in enumerate(text):
        quoted ^= character == "`"
        depth += 0 if quoted else (character in "(<") - (character in ")>")
        if character == "," and not depth and not quoted:
            found.append(parse_type(text[begun:at].strip()))
            begun = at + 1
    return [*found, parse_type(text[begun:].strip())]
