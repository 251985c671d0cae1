"""Results in the form of Flink's tableau mode: a box, a column `op` for queries, a count below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from execnodes.core.changelog import RowKind
from execnodes.core.types import LogicalType, Root
from rekindle.testing.values import display

MAX_WIDTH = 60
"""Widest cell; longer ones are cut."""
_LEFT = (Root.CHAR, Root.VARCHAR, Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW)


def tableau(
    columns: Sequence[str],
    types: Sequence[LogicalType],
    rows: Sequence[Sequence[Any]],
    kinds: Sequence[RowKind] | None = None,
    max_width: int = MAX_WIDTH,
) -> Iterator[str]:
    """Lines of a table. `types` may be empty (all texts); `kinds` are those of a query's rows."""
    if not rows:
        yield "Empty set" if kinds is None else "Received a total of 0 rows"
        return
    table = [_cells(row, types, max_width) for row in rows]
    heads = [_one_line(name, max_width) for name in columns]
    left = [t.root in _LEFT for t in types] or [True] * len(columns)
    if kinds is not None:
        table = [[kind.short, *cells] for kind, cells in zip(kinds, table, strict=True)]
        heads, left = ["op", *heads], [True, *left]
    widths = [max(_width(cell) for cell in column) for column in zip(heads, *table, strict=True)]
    rule = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    yield rule
    yield _line(heads, widths, left)
    yield rule
    yield from (_line(cells, widths, left) for cells in table)
    yield rule
    count = f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    yield f"{count} in set" if kinds is None else f"Received a total of {count}"


def _cells(row: Sequence[Any], types: Sequence[LogicalType], most: int) -> list[str]:
    texts = (
        [display(value, t) for value, t in zip(row, types, strict=True)]
        if types
        else ["<NULL>" if value is None else str(value) for value in row]
    )
    return [_one_line(text, most) for text in texts]


def _one_line(text: str, most: int) -> str:
    escaped = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    if _width(escaped) <= most:
        return escaped
    while _width(escaped) > most - 3:
        escaped = escaped[:-1]
    return escaped + "..."


def _line(cells: Sequence[str], widths: Sequence[int], left: Sequence[bool]) -> str:
    padded = (
        cell + " " * (width - _width(cell)) if to_left else " " * (width - _width(cell)) + cell
        for cell, width, to_left in zip(cells, widths, left, strict=True)
    )
    return f"| {' | '.join(padded)} |"


def _width(text: str) -> int:
    """Columns on a terminal: some characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
