"""Where in a script a table stands, or the option of it, that a later statement finds to be wrong."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from execnodes.core.errors import ConnectorError, OptionError, Position, RekindleError
from planner.statements import Statement
from planner.table_statements import AlterTable, CreateTable


@contextmanager
def placed_options(script: Sequence[Statement]) -> Iterator[None]:
    """Errors of tables inside are at the option, if the script has it, else at the table's CREATE."""
    try:
        yield
    except (OptionError, ConnectorError) as error:
        error.position = error.position or _place(error, script)
        raise


def _place(error: RekindleError, script: Sequence[Statement]) -> Position | None:
    found = None
    for statement in script:
        if isinstance(statement, CreateTable | AlterTable) and f".{error.where}".endswith(
            f".{'.'.join(statement.path)}"
        ):
            options = statement.options if isinstance(statement, CreateTable) else statement.set_options
            named = [key for key, _ in options if repr(key) in error.message]
            if named or isinstance(statement, CreateTable):
                found = _of_option(statement, named[0]) if named else statement.position
    return found


def _of_option(statement: Statement, key: str) -> Position:
    before, written, _ = statement.text.partition(f"'{key}'")
    if not written:
        return statement.position
    line, start = before.count("\n"), statement.position
    column = len(before) - before.rfind("\n") if line else start.column + len(before)
    return Position(start.line + line, column)
