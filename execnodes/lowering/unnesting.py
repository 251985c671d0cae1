"""Arrays of ROWs as Spark SQL texts: their fields, and what stands for an empty one."""

from __future__ import annotations

from execnodes.core.types import LogicalType
from execnodes.lowering.spark_sql import spark_type, text_literal
from execnodes.lowering.stream import quote


def fields_of(name: str, members: LogicalType) -> tuple[str, ...]:
    """The fields of a column that holds a ROW of this type."""
    return tuple(f"{name}.{quote(each.name)}" for each in members.fields)


def members_or_nulls(array: str, members: LogicalType) -> str:
    """An array of ROWs or, if it is empty or NULL, one of a ROW of NULLs."""
    cells = (f"{text_literal(each.name)}, CAST(NULL AS {spark_type(each.type)})" for each in members.fields)
    return f"if(size({array}) > 0, {array}, array(named_struct({', '.join(cells)})))"
