"""FOR SYSTEM_TIME AS OF: a table as it is when the rows in front of it come, or as it was at their event time."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import InputRef
from execnodes.core.types import TimeKind
from planner import syntax as s
from planner.bind.builder import Builder
from planner.bind.expression_binder import Converter
from planner.bind.source import Source


def build_versions(builder: Builder, left: Source, node: s.Join) -> tuple[Source, tuple[int, int] | None]:
    """The right table of such a join, and for an event time `Join.as_of`; SqlError unless the left has such a time."""
    table = node.right
    assert isinstance(table, s.TableName)
    assert table.as_of is not None
    if node.kind in ("RIGHT", "FULL"):
        raise SqlError(
            f"{node.kind} JOIN … FOR SYSTEM_TIME AS OF is not supported: rows of the left side look for those of the "
            "right one",
            position=node.position,
            hint="Write INNER JOIN or LEFT JOIN.",
        )
    time = Converter(left.scope, builder.catalog, clause="FOR SYSTEM_TIME AS OF").convert(table.as_of)
    if not isinstance(time, InputRef) or time.type.kind is TimeKind.REGULAR:
        raise SqlError(
            "FOR SYSTEM_TIME AS OF requires a time attribute of the left side",
            position=table.as_of.position,
            hint="Add PROCTIME() AS pt to a subquery on the left side, and write FOR SYSTEM_TIME AS OF pt.",
        )
    right = builder.table(replace(table, as_of=None))
    if time.type.kind is TimeKind.PROCTIME:
        return right, None
    return right, (time.input_index, _valid_from(right, time, table))


def _valid_from(right: Source, time: InputRef, table: s.TableName) -> int:
    """The column with the time from which on a row of the table is valid."""
    fields = right.logical.type.fields
    valid = next((at for at, each in enumerate(fields) if each.type.kind is TimeKind.ROWTIME), None)
    if valid is None:
        raise SqlError(
            f"FOR SYSTEM_TIME AS OF the event time of the left side requires versions with an event time, and "
            f"{'.'.join(table.parts)} has none",
            position=table.position,
            hint="Declare a WATERMARK on the column that says since when a row is valid, and keep it in views.",
        )
    if fields[valid].type.root is not time.type.root:
        raise SqlError(
            f"a temporal join requires times of one type, and these are {time.type.regular()} and "
            f"{fields[valid].type.regular()}",
            position=table.position,
            hint="Declare both columns of a WATERMARK as TIMESTAMP, or both as TIMESTAMP_LTZ.",
        )
    return valid


def without_join(as_of: s.Expr) -> SqlError:
    """For a table that stands alone, or in a subquery."""
    return SqlError(
        "FOR SYSTEM_TIME AS OF is supported only for the right table of a JOIN",
        position=as_of.position,
        hint="Write … FROM left AS l JOIN table FOR SYSTEM_TIME AS OF l.pt AS r ON l.key = r.key.",
    )
