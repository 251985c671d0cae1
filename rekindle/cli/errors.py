"""Errors for people: what happened, where, with the line of SQL, and what to do. Never a traceback unasked."""

from __future__ import annotations

import os
from collections.abc import Iterator

from execnodes.core.errors import Position, RekindleError
from execnodes.core.secrets import masked
from rekindle.cli.inputs import Script

DEBUG = "REKINDLE_DEBUG"
"""Environment variable; when set, the traceback is shown."""


def describe_error(error: RekindleError, script: Script | None = None) -> Iterator[str]:
    """Lines of an error; its position is a place in `script`."""
    yield f"error: {error.message}"
    places = [script.name] if script is not None and error.position is not None else []
    places += [str(error.position)] if error.position is not None else []
    places += [error.where] if error.where and error.where not in places else []
    if places:
        yield f"  at {', '.join(places)}"
    if script is not None and error.position is not None:
        yield from excerpt(script.text, error.position)
    if error.hint:
        first, *rest = error.hint.splitlines()
        yield f"  hint: {first}"
        yield from (f"        {line}" for line in rest)


def excerpt(text: str, position: Position) -> Iterator[str]:
    """The line of a position with a caret below the column; nothing if the text has no such line."""
    lines = text.splitlines()
    if not 1 <= position.line <= len(lines):
        return
    from rich.cells import cell_len

    line = lines[position.line - 1]
    before = masked(line[: position.column - 1]).expandtabs(4)
    margin = " " * len(str(position.line))
    yield f"  {margin} |"
    yield f"  {position.line} | {masked(line).expandtabs(4)}"
    yield f"  {margin} | {' ' * cell_len(before)}^"


def describe_defect(error: BaseException) -> Iterator[str]:
    """Lines for an exception nobody expected."""
    text = " ".join(masked(str(error)).split())
    yield f"error: unexpected {type(error).__name__}: {text[:300]}"
    yield f"  hint: This is a defect of Rekindle. Set {DEBUG}=1 to see the traceback, and report it."


def debugging() -> bool:
    """Whether tracebacks are wanted."""
    return bool(os.environ.get(DEBUG))
