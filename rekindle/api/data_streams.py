"""Data streams: DataFrames of the caller's program, which plans know by a uid alone."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

from execnodes.core.errors import CatalogError, PlanError
from execnodes.core.graph import ExecGraph
from execnodes.core.node import ExecNode
from execnodes.core.tables import ResolvedTable, Schema
from execnodes.core.types import LogicalType
from execnodes.lowering.spark_sql import spark_type
from plans.format.node_tables import tables_of
from rekindle.connectors.data_stream import UID, DataStream
from rekindle.spark.types import row_type

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

OPTIONS = {"connector": "data-stream"}
"""Of the inline table that stands for a data stream; its uid comes on top."""


class DataStreams:
    """The data streams that a session knows."""

    def __init__(self) -> None:
        self._known: dict[str, DataStream] = {}

    @property
    def known(self) -> Mapping[str, DataStream]:
        """By uid."""
        return MappingProxyType(self._known)

    def register(self, frame: DataFrame, uid: str, bounded: bool | None) -> None:
        """Know a frame by a uid; CatalogError if another frame has it."""
        if not uid or uid != uid.strip():
            raise CatalogError(f"{uid!r} is no uid", hint="Write a text without blanks around it, e.g. 'orders'.")
        known = self._known.get(uid)
        if known is not None and known.frame is not frame:
            raise CatalogError(
                f"another data stream has the uid {uid!r}",
                hint="Give each its own uid, or forget all of them first with unregister_data_streams().",
            )
        self._known[uid] = DataStream(frame, not frame.isStreaming if bounded is None else bounded)

    def clear(self) -> None:
        """Forget all."""
        self._known.clear()

    def check(self, graph: ExecGraph) -> None:
        """PlanError if a plan reads a data stream that is not registered, or has other columns."""
        for node in graph.nodes:
            for table in tables_of(node):
                resolved = table.resolved_table
                if resolved is not None and (resolved.options or {}).get("connector") == OPTIONS["connector"]:
                    self._check(node, resolved)

    def _check(self, node: ExecNode, table: ResolvedTable) -> None:
        uid = (table.options or {}).get(UID, "")
        stream = self._known.get(uid)
        if stream is None:
            raise node.fail(
                f"no data stream with the uid {uid!r} is registered",
                f"Write register_data_stream(df, {uid!r}) before the plan is executed; df has the columns "
                f"{_listed(table.table_schema)}.",
            )
        check_columns(uid, table.table_schema, stream.frame, f"node {node.id} ({node.key})")


def check_columns(uid: str | None, wanted: Schema, frame: DataFrame, where: str | None = None) -> None:
    """PlanError if the frame lacks a column, or has it with another type. It may have more, in any order."""
    name = stream_name(uid)
    given = {field.name: field.type for field in row_type(frame.schema, name).fields}
    for column in wanted.physical:
        found = given.get(column.name)
        if found is not None and spark_type(found) == spark_type(column.data_type):
            continue
        problem = f"column {column.name!r} is {found}, not {column.data_type.regular()}"
        raise PlanError(
            f"{name}: {problem if found else f'it has no column {column.name!r}'}",
            where=where,
            hint=f"Register a DataFrame with the columns {_listed(wanted)}.",
        )


def stream_name(uid: str | None) -> str:
    """For messages."""
    return f"data stream {uid!r}" if uid else "data stream"


def stream_table(schema: Schema, uid: str | None) -> ResolvedTable:
    """The inline table of a data stream."""
    options = {**OPTIONS, UID: uid} if uid else OPTIONS
    return ResolvedTable(table_schema=schema, options=dict(options))


def check_type(declared: Schema, given: LogicalType, where: str) -> None:
    """PlanError if rows of the type `given` are not those that are declared: names, order, types."""
    wanted = [(column.name, column.data_type.regular()) for column in declared.columns]
    names = [field.name for field in given.fields]
    if [name for name, _ in wanted] != names:
        expected = ", ".join(name for name, _ in wanted)
        raise PlanError(
            f"the columns are ({', '.join(names)}), not ({expected})", where=where, hint="Declare them in this order."
        )
    for (name, t), field in zip(wanted, given.fields, strict=True):
        if not t.same_values(field.type) or (field.type.nullable and not t.nullable):
            raise PlanError(
                f"column {name!r} is {field.type.regular()}, not {t}",
                where=where,
                hint="Declare the type that it has, or CAST it in the query.",
            )


def _listed(schema: Schema) -> str:
    return ", ".join(f"{column.name} {column.data_type.regular()}" for column in schema.physical)
