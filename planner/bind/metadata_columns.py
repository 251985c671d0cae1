"""Checks metadata columns of a table against what its connector declares, where the table is read or written."""

from __future__ import annotations

from collections.abc import Mapping

from execnodes.connectors import find_connector
from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import InputRef
from execnodes.core.tables import Column, ResolvedTable
from execnodes.core.types import LogicalType
from execnodes.functions import cast


def check_readable_metadata(table: ResolvedTable, position: Position | None) -> None:
    """SqlError for the first metadata column, read or not, that the source does not have."""
    declared = find_connector((table.options or {}).get("connector", ""))
    if declared is None or declared.source is None or declared.source.metadata is None:
        return
    for column in table.table_schema.columns:
        if column.kind == "METADATA":
            _check(column, declared.identifier, declared.source.metadata, "read", position)


def check_writable_metadata(table: ResolvedTable, position: Position | None) -> None:
    """SqlError for the first metadata column that is written, but is unknown to the sink; VIRTUAL ones are not."""
    declared = find_connector((table.options or {}).get("connector", ""))
    if declared is None or declared.sink is None or declared.sink.metadata is None:
        return
    for column in table.table_schema.writable:
        if column.kind == "METADATA":
            _check(column, declared.identifier, declared.sink.metadata, "written", position)


def _check(
    column: Column, connector: str, known: Mapping[str, LogicalType], role: str, position: Position | None
) -> None:
    key, name = column.metadata_key or column.name, column.name
    leave_out = "Declare the column VIRTUAL." if role == "written" else "Remove the column."
    if not known:
        message = f"metadata column '{name}' cannot be {role}: connector '{connector}' has no metadata"
        raise SqlError(message, position=position, hint=leave_out)
    if key not in known:
        message = f"metadata key '{key}' of column '{name}' does not exist in connector '{connector}'"
        raise SqlError(message, position=position, hint=f"Use one of {', '.join(known)}, or: {leave_out}")
    metadata, declared = known[key], column.data_type.regular()
    given, wanted = (metadata, declared) if role == "read" else (declared, metadata)
    try:
        cast(InputRef(input_index=0, type=given), wanted, explicit=True, position=position)
    except SqlError as error:
        message = f"metadata column '{name}' cannot be of type {declared}: metadata key '{key}' is of type {metadata}"
        raise SqlError(message, position=position, hint=f"Declare it as {metadata}.") from error
