"""Rows for operators: changelogs drawn from few values, so that keys meet, rows are taken back and come late.

What is drawn is recorded, so that these may change without a record that does.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE = range(4)
Row = list[Any]
"""Values as kernels have them, and the row kind."""
_STEP = 5_000_000
_NUMBERS: dict[str, list[Any]] = {
    "BOOLEAN": [True, False],
    "FLOAT": [0.0, -1.5, 2.25],
    "DOUBLE": [0.0, -1.5, 2.25, 0.1],
}
_TEXTS = ["a", "b", "é", ""]
_BYTES = [b"", b"ab", b"\x00\xff"]
_NESTED = {"ARRAY": ["[]", "[1,2]"], "MAP": ["[]"], "MULTISET": ["[]"], "ROW": []}


class Changelog:
    """The changes of one input, batch after batch; what is taken back has been given before."""

    def __init__(
        self, types: Sequence[tuple[str, Any]], keys: Sequence[int], kinds: str, seed: str, *, nulls: bool
    ) -> None:
        """Columns by name and type; `kinds` as plans write them: ``I,UB,UA,D``; with `nulls` columns may be NULL."""
        self._nulls = nulls
        self._types = list(types)
        self._keys = set(keys)
        self._kinds = set(kinds.split(","))
        self._random = random.Random(seed)
        self._live: list[Row] = []

    def batch(self, steps: int) -> list[Row]:
        """Some changes."""
        return [row for _ in range(steps) for row in self._step()]

    def _step(self) -> Iterator[Row]:
        chance = self._random.random()
        if self._live and "D" in self._kinds and chance < 0.2:
            yield [*self._live.pop(self._random.randrange(len(self._live))), DELETE]
        elif self._live and "UA" in self._kinds and chance < 0.5:
            at = self._random.randrange(len(self._live))
            old = self._live[at]
            new = [old[i] if i in self._keys else each for i, each in enumerate(self._row())]
            self._live[at] = new
            if "UB" in self._kinds:
                yield [*old, UPDATE_BEFORE]
            yield [*new, UPDATE_AFTER]
        else:
            row = self._row()
            yield [*row, self._kind_of_new(row)]

    def _kind_of_new(self, row: Row) -> int:
        """A key that is there is updated, where rows are known by their keys."""
        if "UA" in self._kinds and "UB" not in self._kinds:
            for at, each in enumerate(self._live):
                if all(each[key] == row[key] for key in self._keys):
                    self._live[at] = row
                    return UPDATE_AFTER
        self._live.append(row)
        return INSERT

    def _row(self) -> Row:
        end = self._random.randrange(1, 13) * 2 * _STEP
        windows = {"window_start": end - 2 * _STEP, "window_end": end, "window_time": end - 1000}
        return [windows[name] if name in windows else self._value(t) for name, t in self._types]

    def _value(self, t: Any) -> Any:
        root = t.root.name
        if self._nulls and t.nullable and "*ROWTIME*" not in str(t) and self._random.random() < 0.15:
            return None
        if root.startswith("TIMESTAMP"):
            return self._random.randrange(25) * _STEP
        if root in ("CHAR", "VARCHAR"):
            return self._random.choice(_TEXTS)
        if root in ("BINARY", "VARBINARY"):
            return self._random.choice(_BYTES)
        if root in _NESTED:
            return self._random.choice(_NESTED[root] or [None])
        return self._random.choice(_NUMBERS.get(root, [-3, 0, 1, 2, 5, 7]))
