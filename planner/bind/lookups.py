"""FOR SYSTEM_TIME AS OF: a table as it is when the rows in front of it come."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.errors import SqlError
from execnodes.core.expressions import InputRef
from execnodes.core.types import TimeKind
from planner import syntax as s
from planner.bind.builder import Builder
from planner.bind.expression_binder import Converter
from planner.bind.source import Source

_NEWEST = (
    "Join the newest row of each key: JOIN (SELECT * FROM (SELECT *, ROW_NUMBER() OVER (PARTITION BY key ORDER BY time "
    "DESC) AS n FROM versions) WHERE n = 1) AS v ON t.key = v.key. The result is updated when a newer row comes."
)


def build_versions(builder: Builder, left: Source, node: s.Join) -> Source:
    """The right table of a join whose rows are looked up; SqlError unless that is by processing time of the left."""
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
    if time.type.kind is TimeKind.ROWTIME:
        raise SqlError(
            "a temporal join by event time (FOR SYSTEM_TIME AS OF a rowtime) is not supported",
            position=table.as_of.position,
            hint=_NEWEST,
        )
    return builder.table(replace(table, as_of=None))


def without_join(as_of: s.Expr) -> SqlError:
    """For a table that stands alone, or in a subquery."""
    return SqlError(
        "FOR SYSTEM_TIME AS OF is supported only for the right table of a JOIN",
        position=as_of.position,
        hint="Write … FROM left AS l JOIN table FOR SYSTEM_TIME AS OF l.pt AS r ON l.key = r.key.",
    )
