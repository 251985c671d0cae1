"""Syntax as text with all its places, and the programs there are."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from pathlib import Path

from planner import syntax
from planner.parse import parse_query

ROOT = Path(__file__).parents[2]
PROGRAMS = {
    str(path.relative_to(ROOT)): path.read_text()
    for folder in ("tests", "examples", "benchmarks")
    for path in sorted((ROOT / folder).rglob("*.sql"))
}
"""Every script of the tests, the examples and the benchmarks."""


TREES = ("planner.syntax", "planner.statements", "planner.table_statements")
"""Modules whose classes make up the trees."""


def written(found: object) -> str:
    """A syntax tree with the positions, texts and spans that take no part in its equality."""
    if isinstance(found, tuple | list):
        return f"({', '.join(map(written, found))})"
    if is_dataclass(found) and type(found).__module__ in TREES:
        return f"{type(found).__name__}({', '.join(written(getattr(found, each.name)) for each in fields(found))})"
    return repr(found)


def parse_expression(text: str) -> syntax.Expr:
    """One expression, as the only item of a SELECT."""
    body = parse_query(f"SELECT {text}").body
    assert isinstance(body, syntax.Select)
    (item,) = body.items
    assert isinstance(item, syntax.SelectItem)
    return item.expr
