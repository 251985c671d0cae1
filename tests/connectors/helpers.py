"""Tables, requests and short ways to read and write with a connector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.changelog import RETRACT, ChangelogMode
from execnodes.core.options import Configuration
from execnodes.core.tables import Column, PrimaryKey, ResolvedTable, Schema
from execnodes.core.types import parse_type, row
from execnodes.stream.values.v1 import Values
from rekindle.connectors.base import ProviderContext, SinkRequest, SinkWriter, SourceRequest
from rekindle.connectors.registry import find_sink, find_source

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

_uids: Iterator[int] = count(1)


def table(
    columns: Mapping[str, str], options: Mapping[str, str], key: tuple[str, ...] = (), partitions: tuple[str, ...] = ()
) -> ResolvedTable:
    """A table with physical columns; a column named like ``file.path`` is metadata."""
    made = tuple(
        Column(name=name, data_type=parse_type(kind), kind="METADATA" if "." in name else "PHYSICAL")
        for name, kind in columns.items()
    )
    primary = PrimaryKey(name="pk", columns=key) if key else None
    schema = Schema(columns=made, primary_key=primary)
    return ResolvedTable(table_schema=schema, options=dict(options), partition_keys=partitions)


def context() -> ProviderContext:
    """Of a node that is in no plan."""
    node = Values(id=1, output_type=row(), tuples=(), description="Values")
    return ProviderContext(node, set())


def source_request(given: ResolvedTable, job_dir: Path, **changes: Any) -> SourceRequest:
    """A request for all columns, streaming."""
    facts: dict[str, Any] = {
        "table": given, "name": "t", "columns": given.table_schema.columns, "uid": f"{next(_uids)}_source",
        "batch": False, "ordered": False, "configuration": Configuration(), "job_dir": job_dir, "context": context(),
    }  # fmt: skip
    return SourceRequest(**{**facts, **changes})


def read(
    spark: SparkSession, given: ResolvedTable, job_dir: Path, order: bool = True, **changes: Any
) -> list[tuple[Any, ...]]:
    """All rows of a source as micro-batches read them, in their order; a leading row kind if the source gives one.

    Of one that does not end, what there is at once. With `batch`, as batch queries read them.
    """
    request = source_request(given, job_dir, ordered=order, **changes)
    connector = find_source((given.options or {})["connector"])
    positions = None if request.batch else connector.positions(spark, request)
    if positions is None:
        frame = connector.read(spark, request).frame
        return _shown(frame, request, stream(frame, job_dir / f"ck-{request.uid}") if frame.isStreaming else None)
    rows: list[tuple[Any, ...]] = []
    at = None if request.start is None else positions.restored(request.start)
    while (news := positions.plan(at)) is not None:
        if news.position != at:
            part = replace(request, batch=True, between=(at, news.position))
            rows.extend(_shown(connector.read(spark, part).frame, request))
        at = news.position
        if news.ended or not positions.bounded:
            break
    return rows


def _shown(frame: DataFrame, request: SourceRequest, rows: list[Any] | None = None) -> list[tuple[Any, ...]]:
    found = _sorted(frame) if rows is None else rows
    hidden = sum(name in ("rk_major", "rk_seq") for name in frame.columns)
    width = len(request.columns)
    cut = [tuple(row)[: len(row) - hidden] if hidden else tuple(row) for row in found]
    return [(row[-1], *row[:width]) if "rk_kind" in frame.columns else row for row in cut]


def _sorted(frame: DataFrame) -> list[Any]:
    names = [name for name in ("rk_major", "rk_seq") if name in frame.columns]
    return frame.orderBy(*names).collect() if names else frame.collect()


def stream(frame: DataFrame, checkpoint: Path) -> list[tuple[Any, ...]]:
    """Run a stream until it has nothing more, and give its rows."""
    rows: list[tuple[Any, ...]] = []

    def keep(batch: DataFrame, batch_id: int) -> None:
        rows.extend(tuple(row) for row in _sorted(batch))

    query = (
        frame.writeStream.foreachBatch(keep)
        .option("checkpointLocation", str(checkpoint))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    return rows


def sink(
    spark: SparkSession,
    given: ResolvedTable,
    job_dir: Path,
    job_id: str = "job",
    changelog: ChangelogMode = RETRACT,
) -> SinkWriter:
    """An opened writer."""
    columns = given.table_schema.columns
    names = [column.name for column in columns]
    key = given.table_schema.primary_key
    indexes = tuple(names.index(name) for name in key.columns) if key else ()
    request = SinkRequest(given, "t", columns, indexes, job_id, job_dir, changelog, Configuration(), context=context())
    writer = find_sink((given.options or {})["connector"]).writer(spark, request)
    writer.open()
    return writer


def frame_of(spark: SparkSession, rows: str, columns: str) -> DataFrame:
    """A batch from SQL VALUES, e.g. ``frame_of(spark, "(1, 'a', 0Y)", "id, s, rk_kind")``."""
    return spark.sql(f"SELECT * FROM VALUES {rows} AS t({columns})")
