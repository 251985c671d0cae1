"""Guesses at a comma that is missing in a SELECT list: ``SELECT a b FROM t`` is one column, a, that is called b."""

from __future__ import annotations

from planner import syntax as s
from planner.bind.builder import Builder
from planner.bind.hints import StateTtl
from planner.bind.relations import build_source


def guess_missing_comma(builder: Builder, node: s.Query | s.Body, missing: int) -> str | None:
    """A hint for a query of too few columns, by `missing`: aliases without AS that are names of columns, too."""
    if missing < 1:
        return None
    for select, inner in _selects(builder, node):
        relations = build_source(inner, select, StateTtl(()), None).scope.relations
        columns = {field.name for relation in relations for field in relation.fields}
        found = [(item.alias, item.unmarked) for item in select.items if item.unmarked and item.alias in columns]
        if len(found) >= missing:
            names = (" and " if len(found) == missing else " or ").join(
                f"{alias} (line {place.line}, column {place.column})" for alias, place in found if place
            )
            return f"Is a comma missing before {names}?"
    return None


def _selects(builder: Builder, node: s.Query | s.Body) -> list[tuple[s.Select, Builder]]:
    """The SELECTs whose lists are the columns of a query, each with the builder that knows what WITH names there."""
    match node:
        case s.Select():
            return [(node, builder)]
        case s.SetOperation():
            return [*_selects(builder, node.left), *_selects(builder, node.right)]
        case s.Query():
            return _selects(builder.within(node.with_items), node.body)
        case s.Values() | s.TableName():
            return []
