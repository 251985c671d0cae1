"""Results in the form of Flink's tableau mode: a box, a column `op` for queries, a count below."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from execnodes.core.changelog import RowKind
from execnodes.core.types import LogicalType, Root
from rekindle.results.json_values import display

MAX_WIDTH = 60
"""Widest cell; longer ones are cut."""
_LEFT = (Root.CHAR, Root.VARCHAR, Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW)

Change = tuple[RowKind, Sequence[Any]]


class Tableau:
    """Draws rows as they come. Rows that are wider than those before begin a new head in the new widths."""

    def __init__(
        self, columns: Sequence[str], types: Sequence[LogicalType], *, changes: bool, max_width: int = MAX_WIDTH
    ) -> None:
        """`types` may be empty (all texts); with `changes` a row's kind stands before it."""
        self._types = types
        self._changes = changes
        self._most = max_width
        self._heads = ["op"] * changes + [_one_line(name, max_width) for name in columns]
        self._left = [True] * changes + ([t.root in _LEFT for t in types] or [True] * len(columns))
        self._widths = [_width(head) for head in self._heads]
        self.count = 0
        """Rows drawn so far."""

    def add(self, rows: Iterable[Change]) -> Iterator[str]:
        """Lines of some rows, below a head where one is needed."""
        table = [[kind.short] * self._changes + _cells(row, self._types, self._most) for kind, row in rows]
        if not table:
            return
        widths = [
            max(width, *map(_width, column))
            for width, column in zip(self._widths, zip(*table, strict=True), strict=True)
        ]
        if widths != self._widths or not self.count:
            self._widths = widths
            yield self._rule
            yield self._line(self._heads)
            yield self._rule
        self.count += len(table)
        yield from map(self._line, table)

    def close(self) -> Iterator[str]:
        """The line below the last row, if there is one."""
        if self.count:
            yield self._rule

    def end(self) -> Iterator[str]:
        """The last lines: the box is closed, and the rows are counted."""
        yield from self.close()
        count = f"{self.count} row{'' if self.count == 1 else 's'}"
        if self._changes:
            yield f"Received a total of {count}"
        else:
            yield f"{count} in set" if self.count else "Empty set"

    @property
    def _rule(self) -> str:
        return "+" + "+".join("-" * (width + 2) for width in self._widths) + "+"

    def _line(self, cells: Sequence[str]) -> str:
        padded = (
            cell + " " * (width - _width(cell)) if to_left else " " * (width - _width(cell)) + cell
            for cell, width, to_left in zip(cells, self._widths, self._left, strict=True)
        )
        return f"| {' | '.join(padded)} |"


def tableau(
    columns: Sequence[str],
    types: Sequence[LogicalType],
    rows: Sequence[Sequence[Any]],
    kinds: Sequence[RowKind] | None = None,
    max_width: int = MAX_WIDTH,
) -> Iterator[str]:
    """Lines of a whole table. `types` may be empty (all texts); `kinds` are those of a query's rows."""
    table = Tableau(columns, types, changes=kinds is not None, max_width=max_width)
    yield from table.add(zip(kinds or [RowKind.INSERT] * len(rows), rows, strict=True))
    yield from table.end()


def _cells(row: Sequence[Any], types: Sequence[LogicalType], most: int) -> list[str]:
    texts = (
        [display(value, t) for value, t in zip(row, types, strict=True)]
        if types
        else ["<NULL>" if value is None else _text(value) for value in row]
    )
    return [_one_line(text, most) for text in texts]


def _text(value: Any) -> str:
    return str(value).upper() if isinstance(value, bool) else str(value)


def _one_line(text: str, most: int) -> str:
    escaped = "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)
    if _width(escaped) <= most:
        return escaped
    while _width(escaped) > most - 3:
        escaped = escaped[:-1]
    return escaped + "..."


def _width(text: str) -> int:
    """Columns on a terminal: some characters take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)
