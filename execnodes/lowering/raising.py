"""Spark SQL that fails the job for a row, and says where the SQL has what fails."""

from __future__ import annotations

from execnodes.core.places import Place, mark, node_place, row
from execnodes.lowering.spark_sql import text_literal

HINT = "\n  hint: "
"""Between a message and the hint that belongs to it; without one, the hint is that of any row that fails."""


def raised(message: str, at: Place | None, found: str | None = None, rest: str = "", hint: str = "") -> str:
    """A text that raises a message with the value `found` (a text in Spark SQL) and `rest` after it."""
    rest += f"{HINT}{hint}" if hint else ""
    parts = [text_literal(message), *([found] if found is not None else []), *([text_literal(rest)] if rest else [])]
    if at is not None:
        parts += [text_literal(mark(at)), row()]
    return f"raise_error({parts[0]})" if len(parts) == 1 else f"raise_error(concat({', '.join(parts)}))"


def raised_by_node(message: str, found: str | None = None, rest: str = "") -> str:
    """As `raised`, at the place of the node that is being lowered."""
    return raised(message, node_place(), found, rest)
