"""What a restore test is: queries, rows before the savepoint, rows after it. Rows are data; a fixture is made once."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from execnodes.core.metadata import NodeKey

FIXTURES = Path(__file__).with_name("fixtures")
Files = Mapping[str, str]
"""Path below the program's folder to content."""


@dataclass(frozen=True)
class RestoreProgram:
    """One pipeline that is cut in two."""

    node: str
    """Node version that it is for: ``stream-exec-join_1``."""
    name: str
    """Its state variations."""
    tables: str
    """DDL and SETs; ``${dir}`` is the folder of the files."""
    queries: Mapping[str, str]
    """Sink to the query (and ON CONFLICT) that fills it; a sink that `tables` does not create gets the query's type."""
    before: Files
    after: Files
    configuration: Mapping[str, str] = field(default_factory=dict)
    edits: tuple[tuple[str, str], ...] = ()
    """Texts of the plan and what takes their place: for what the planner never asks for."""
    numbers: tuple[int, int] = (0, 0)
    """What ``${rows}`` stands for in `tables` before and after."""
    landed: Mapping[str, str] = field(default_factory=dict)
    """Name to a DuckDB query that reads what was written below ``${dir}``; then sinks are what is tested, and nothing
    is put in their place."""
    refused: str = ""
    """Part of the message with which going on is refused."""
    long: bool = False
    """Whether going on is left to the long tests; every node version goes on in a short one."""

    @property
    def key(self) -> NodeKey:
        """The node version."""
        return NodeKey.parse(self.node)

    @property
    def fixture(self) -> Path:
        """Folder with plan, savepoint, the changes before it, and the rows there must be in the end."""
        return FIXTURES / self.node / self.name

    def __str__(self) -> str:
        return f"{self.node}/{self.name}"


@cache
def programs() -> tuple[RestoreProgram, ...]:
    """All there are, found by walking the package."""
    from tests.restore import programs as package

    found: list[RestoreProgram] = []
    for module in pkgutil.iter_modules(package.__path__):
        loaded = importlib.import_module(f"{package.__name__}.{module.name}")
        found += [each for each in vars(loaded).values() if isinstance(each, RestoreProgram)]
    return tuple(sorted(found, key=str))


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
