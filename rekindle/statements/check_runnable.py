"""Checks when a statement is compiled what a job would be refused for when it starts.

Released plans are checked when they start, too: in `rekindle.pipeline.record` and `execnodes.common.batch`.
"""

from __future__ import annotations

from execnodes.core.errors import PlanError, Position, SqlError
from execnodes.core.expressions import Call, reads_watermark
from execnodes.core.graph import ExecGraph
from execnodes.core.places import Place
from plans.format.walk import everywhere, walk

_GRANULARITY = "table.exec.lateness.granularity"
_ROW = f"'{_GRANULARITY}' = 'row'"


def check_runnable(graph: ExecGraph) -> None:
    """SqlError with its position for what follows from nodes and options alone, and no job can run."""
    _check_watermarks(graph)
    clocked = next((node for node in graph.nodes if node.clocked is not None), None)
    if clocked is None:
        return
    # Which operators wait for watermarks is asked of the operators, which compiling needs for nothing else.
    from rekindle.pipeline.record import record

    try:
        record(graph)
    except PlanError as error:
        raise _sql_error(error.message, clocked.place, error.hint) from error


def _check_watermarks(graph: ExecGraph) -> None:
    if any(node.option(_GRANULARITY) == "row" for node in graph.nodes):
        return
    for node in graph.nodes:
        for _, value, _ in walk(node, True, everywhere):
            if isinstance(value, Call) and reads_watermark(value):
                raise _watermark_error(value.place or node.place, is_batch=graph.batch)


def _watermark_error(place: Place | None, *, is_batch: bool) -> SqlError:
    if is_batch:
        hint = f"Leave CURRENT_WATERMARK out, or SET 'execution.runtime-mode' = 'streaming' and {_ROW}."
        return _sql_error("CURRENT_WATERMARK requires a watermark, which batch mode does not have", place, hint)
    return _sql_error(
        f"CURRENT_WATERMARK requires the watermark of each row, but {_GRANULARITY} is 'batch'",
        place,
        f"SET {_ROW}.",
    )


def _sql_error(message: str, place: Place | None, hint: str | None) -> SqlError:
    """Return an error at a place; in a view or a table, the place is that in its own text."""
    if place is None:
        return SqlError(message, hint=hint)
    inner = place.statement if place.statement.startswith(("view ", "CREATE ")) else None
    return SqlError(message, position=Position(place.line, place.column), where=inner, hint=hint)
