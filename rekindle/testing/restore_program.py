"""What a restore test is: SQL, rows before the savepoint, rows after it. All of it is data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from rekindle.results.json_values import Json

Files = Mapping[str, str]
"""Path below the program's folder to content."""
Rows = Mapping[str, Sequence[Sequence[Json]]]
"""Sink to its rows, in any order; values as in the `expected.jsonl` of program folders."""


@dataclass(frozen=True)
class RestoreProgram:
    """One pipeline that is cut in two."""

    name: str
    """Of its fixture's folder."""
    sql: str
    """DDL and SETs; ``${dir}`` is the folder of the files. Without `queries` and `plan` also the INSERT or the
    statement set."""
    queries: Mapping[str, str] = field(default_factory=dict)
    """Sink to the query (and ON CONFLICT) that fills it; a sink that `sql` does not create gets the query's type."""
    before: Files = field(default_factory=dict)
    """What sources find until the savepoint is taken."""
    after: Files = field(default_factory=dict)
    """What has come when the job goes on."""
    configuration: Mapping[str, str] = field(default_factory=dict)
    edits: tuple[tuple[str, str], ...] = ()
    """Texts of the plan and what takes their place: for what the planner never asks for."""
    numbers: tuple[int, int] = (0, 0)
    """What ``${rows}`` stands for in `sql` before and after."""
    landed: Mapping[str, str] = field(default_factory=dict)
    """Name to a DuckDB query that reads what was written below ``${dir}``; then sinks are what is tested, and nothing
    is put in their place."""
    refused: str = ""
    """Part of the message with which going on is refused."""
    plan: Path | None = None
    """A plan file instead of queries; `sql` then creates its tables under their names, over data of the test."""
    rows_before: Rows = field(default_factory=dict)
    """What sinks must hold at the savepoint; sinks that are left out hold what they hold."""
    rows_after: Rows = field(default_factory=dict)
    """What they must hold in the end."""

    def __str__(self) -> str:
        return self.name


def lines(columns: str, *rows: str) -> str:
    """JSON lines of rows written as texts: values in JSON, separated by blanks."""
    names = columns.split()
    pairs = ([f'"{name}": {value}' for name, value in zip(names, row.split(), strict=True)] for row in rows)
    return "".join(f"{{{', '.join(each)}}}\n" for each in pairs)


def changes(columns: str, *rows: str) -> str:
    """Debezium messages: ``+`` inserts, ``-`` deletes, ``=`` gives the old and the new row, with ``->`` between."""
    texts = []
    for row in rows:
        sign, _, rest = row.partition(" ")
        old, _, new = rest.partition(" -> ")
        one = lines(columns, old).strip()
        other = lines(columns, new).strip() if new else "null"
        before, after, op = {"+": ("null", one, "c"), "-": (one, "null", "d"), "=": (one, other, "u")}[sign]
        texts.append(f'{{"before": {before}, "after": {after}, "op": "{op}"}}\n')
    return "".join(texts)
