"""Answers of Flink 2.3.0 to functions and casts that read texts, over grids of such texts: a file each in `texts/`.

`rows` are the values of the columns a, b, c; `answers` has for each expression its results in these rows, cast to
STRING, or `"fails"` in a list where Flink fails. `differs` names the rows in which ours are others, by the reason.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

FOLDER = Path(__file__).parent / "texts"
Value = str | int | None


@dataclass(frozen=True)
class Grid:
    """Rows, and what Flink gives for expressions over them."""

    name: str
    rows: list[list[Value]]
    answers: dict[str, list[str | list[str] | None]]
    differs: dict[str, dict[str, list[int]]] = field(default_factory=dict)

    @property
    def view(self) -> str:
        """The rows as a table of the columns id, a, b, c."""
        columns = zip(*self.rows, strict=True)
        kinds = ["INT" if all(isinstance(each, int | None) for each in column) else "STRING" for column in columns]
        rows = (", ".join([str(at), *map(_literal, row, kinds)]) for at, row in enumerate(self.rows))
        names = [chr(ord("a") + at) for at in range(len(kinds))]
        casts = ", ".join(f"CAST({name} AS {kind}) AS {name}" for name, kind in zip(names, kinds, strict=True))
        values = ", ".join(f"({each})" for each in rows)
        return f"(SELECT id, {casts} FROM (VALUES {values}) AS t (id, {', '.join(names)}))"

    def expected(self) -> dict[str, dict[int, str | None]]:
        """By expression, the results in the rows in which ours are the same."""
        kept = {}
        for expression, values in self.answers.items():
            other = {at for rows in self.differs.get(expression, {}).values() for at in rows}
            kept[expression] = {
                at: value for at, value in enumerate(values) if at not in other and not isinstance(value, list)
            }
        return kept


def _literal(value: Value, kind: str) -> str:
    if value is None:
        return f"CAST(NULL AS {kind})"
    if isinstance(value, int):
        return str(value)
    if any(each < " " for each in value):
        return f"DECODE(UNHEX('{value.encode().hex()}'), 'UTF-8')"
    return "'" + value.replace("'", "''") + "'"


GRIDS = [Grid(path.stem, **json.loads(path.read_text(encoding="utf-8"))) for path in sorted(FOLDER.glob("*.json"))]
