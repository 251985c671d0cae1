"""What columns of a sink demand of their values, as Spark SQL text around a value's text.

A violation raises inside the value itself, so that it cannot be optimised away.
"""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.types import BINARIES, MAX_LENGTH, TEXTS, LogicalType, Root
from execnodes.lowering.raising import raised_by_node
from execnodes.lowering.stream import wrap

FIXED = (Root.CHAR, Root.BINARY)
_SHOWN = 100
"""Characters of a value in an error."""


def null_free(demanded: Sequence[bool], texts: Sequence[str]) -> str:
    """TRUE for rows that have a value wherever one is demanded."""
    return " AND ".join(f"{wrap(text)} IS NOT NULL" for needed, text in zip(demanded, texts, strict=True) if needed)


def enforced(name: str, t: LogicalType, text: str, length: str, *, fail_on_null: bool) -> str:
    """Text of a value that fits its column.

    `length`: IGNORE, TRIM_PAD or ERROR, as table.exec.sink.type-length-enforcer; lengths of texts are in code points.
    """
    text = _of_length(name, t, text, length)
    if t.nullable or not fail_on_null:
        return text
    message = (
        f"Column '{name}' is NOT NULL, but a NULL is being written into it. "
        "Set 'table.exec.sink.not-null-enforcer' = 'DROP' to leave such rows out."
    )
    return f"coalesce({text}, {raised_by_node(message)})"


def _of_length(name: str, t: LogicalType, text: str, length: str) -> str:
    if length == "IGNORE" or t.root not in (*TEXTS, *BINARIES) or t.length == MAX_LENGTH:
        return text
    if length == "TRIM_PAD":
        if t.root not in FIXED:
            return f"substring({text}, 1, {t.length})"
        blank = "' '" if t.root is Root.CHAR else "X'00'"
        return f"rpad({text}, {t.length}, {blank})"
    measure = "char_length" if t.root in TEXTS else "octet_length"
    differs = "<>" if t.root in FIXED else ">"
    message = f"Column '{name}' is {t.with_nullable(True)}, but a value of another length is being written into it: "
    hint = ". Set 'table.exec.sink.type-length-enforcer' = 'TRIM_PAD' to cut and pad, or 'IGNORE' to let it pass."
    shown = f"left({text if t.root in TEXTS else f'hex({text})'}, {_SHOWN})"
    refused = raised_by_node(message, shown, hint)
    return f"CASE WHEN {measure}({text}) {differs} {t.length} THEN {refused} ELSE {text} END"
