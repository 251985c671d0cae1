"""Errors for people: what happened, where, with the line of SQL, and what to do. Never a traceback unasked."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

from execnodes.core.errors import JobError, Position, RekindleError
from execnodes.core.secrets import masked
from execnodes.core.words import one_line
from rekindle.cli.inputs import Script

DEBUG = "REKINDLE_DEBUG"
"""Environment variable; when set, the traceback is shown."""


def describe_error(error: RekindleError, script: Script | None = None) -> Iterator[str]:
    """Lines of an error; its position is a place in `script`."""
    what, *more = in_words_of_the_command_line(error.message).splitlines() or [""]
    yield f"error: {what}"
    yield from (f"  {line.strip()}" for line in more)
    places = [script.name] if script is not None and error.position is not None else []
    places += [str(error.position)] if error.position is not None else []
    places += [error.where] if error.where and error.where not in places else []
    if places:
        yield one_line(f"  at {', '.join(places)}")
    position = error.position if error.position is not None else _position_of_row(error, script)
    if script is not None and position is not None:
        yield from excerpt(script.text, position)
    if error.hint:
        first, *rest = in_words_of_the_command_line(error.hint).splitlines()
        yield f"  hint: {first}"
        yield from (f"        {line}" for line in rest)


_WORD = re.compile(r"\w+|[^\s\w(`]")
"""The first thing that an expression says."""
_COMMANDS = {
    "COMPILE PLAN 'new.json' FROM 'old.json', or rekindle upgrade": "rekindle upgrade",
    "Write COMPILE PLAN … IF NOT EXISTS to keep it, or SET 'table.plan.force-recompile' = 'true'": "Give --force",
    "COMPILE PLAN … FROM … FOR …": "rekindle compile -f SCRIPT --from OLD",
    "COMPILE PLAN … FROM … FOR": "rekindle compile -f SCRIPT --from OLD",
    "COMPILE PLAN … FOR SELECT": "rekindle compile of a SELECT",
    "COMPILE PLAN": "rekindle compile",
}
"""Clauses of SQL to what does the same on the command line; longer ones first."""


def in_words_of_the_command_line(text: str) -> str:
    """A message that names commands and options instead of SQL statements."""
    for clause, command in _COMMANDS.items():
        text = text.replace(clause, command)
    return re.sub(r"Make it: rekindle compile '(.+)' FOR INSERT …", r"Make it: rekindle compile -f SCRIPT -o \1", text)


def _position_of_row(error: RekindleError, script: Script | None) -> Position | None:
    """Where the script has what failed for a row; None where it cannot be told that it does.

    The place may be one of a view's own text, or of a statement of another script.
    """
    place = error.place if isinstance(error, JobError) else None
    if place is None or script is None or place.statement.startswith("view "):
        return None
    lines = script.text.split("\n")
    there = lines[place.line - 1][place.column - 1 :] if 1 <= place.line <= len(lines) else ""
    wanted = _WORD.search(place.text or place.statement)
    found = _WORD.search(there)
    same = wanted is not None and found is not None and wanted[0].upper() == found[0].upper()
    return Position(place.line, place.column) if same else None


def excerpt(text: str, position: Position) -> Iterator[str]:
    """The line of a position with a caret below the column; nothing if the text has no such line."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
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
