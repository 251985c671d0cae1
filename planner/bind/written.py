"""An expression about as it was written, short, for messages."""

from __future__ import annotations

from typing import assert_never

from execnodes.core.expressions import digest
from execnodes.core.places import Place, place
from planner import syntax as s

_DEEPEST = 6
"""Calls inside calls that are written out."""


def locate(node: s.Expr) -> Place:
    """Where the statement that is being bound has it."""
    return place(node.position.line, node.position.column, written(node))


def written(node: s.Expr, depth: int = 0) -> str:
    """The text; what is nested deeper, and queries, are dots."""
    match node:
        case s.Name():
            return ".".join(node.parts)
        case s.Constant():
            return digest(node.literal, ())
        case s.Access():
            return f"{written(node.expr, depth)}.{node.name}"
        case s.Call() if depth < _DEEPEST:
            return _call(node, [written(each, depth + 1) for each in node.args], depth)
        case s.Call() | s.Star() | s.ScalarQuery() | s.ExistsQuery() | s.InQuery() | s.QuantifiedQuery():
            return "…"
        case never:
            assert_never(never)


def _call(node: s.Call, parts: list[str], depth: int) -> str:
    if node.result is not None and node.name in ("CAST", "TRY_CAST"):
        return f"{node.name}({parts[0]} AS {node.result.regular()})"
    if len(parts) == 2 and not node.name[0].isalpha():
        text = f"{parts[0]} {node.name} {parts[1]}"
        return f"({text})" if depth else text
    return f"{node.name}({'*' if node.star else ', '.join(parts)})"
