"""What is said of columns and conditions by which updates are found, and that vary."""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import title
from execnodes.core.places import Place
from planner.algebra import Scan, Sink
from planner.lower.table_specs import table_name
from planner.lower.varying_calls import VaryingCall

_IGNORE = "SET 'table.optimizer.non-deterministic-update.strategy' = 'IGNORE' to accept that such rows may stay."


def column_error(varying: Sequence[tuple[str, Sequence[VaryingCall]]], sink: Sink) -> SqlError:
    """The error of columns, each with the calls that it is computed by."""
    columns = " and ".join(f"column {name!r} is computed by {_list_calls(calls)}" for name, calls in varying)
    return SqlError(
        f"{columns}, which may return another value for the same row, "
        "and rows that are updated or deleted are found by such values",
        position=_find_position([call for _, calls in varying for call in calls], sink),
        hint="Read the value from a column of the source, or write into a sink whose PRIMARY KEY is the key of the "
        f"updates, without such a column in it; or {_IGNORE}",
    )


def condition_error(calls: Sequence[VaryingCall], sink: Sink) -> SqlError:
    """The error of a condition with such calls."""
    return SqlError(
        f"a condition calls {_list_calls(calls)}, which may return another value for the same row, "
        "and the rows that it selects are updated or deleted",
        position=_find_position(calls, sink),
        hint=f"Compare with a constant or with a column of the source; or {_IGNORE}",
    )


def metadata_error(names: Sequence[str], scan: Scan, sink: Sink) -> SqlError:
    """The error of metadata columns of a changelog source."""
    columns = f"metadata column{'s' if len(names) > 1 else ''} {', '.join(map(repr, names))}"
    return SqlError(
        f"{columns} of changelog source {table_name(scan)!r} may differ between a row and its deletion, "
        "and rows that are updated or deleted are found by such values",
        position=sink.position,
        hint="Leave it out, or write into a sink whose PRIMARY KEY is the key of the updates, without such a column "
        f"in it; or {_IGNORE}",
    )


def _list_calls(calls: Sequence[VaryingCall]) -> str:
    return ", ".join(dict.fromkeys(_format_call(each) for each in calls))


def _format_call(call: VaryingCall) -> str:
    """With its place where that is in another statement, of a view or a table."""
    found = call.varies_at
    if found is None or not _is_elsewhere(found):
        return title(call)
    return f"{title(call)} ({found.statement}, line {found.line}, column {found.column})"


def _is_elsewhere(found: Place) -> bool:
    return found.statement != "" and not found.statement.startswith("INSERT ")


def _find_position(calls: Sequence[VaryingCall], sink: Sink) -> Position | None:
    found = (each.varies_at for each in calls)
    positions = (Position(each.line, each.column) for each in found if each is not None and not _is_elsewhere(each))
    return next(positions, sink.position)
