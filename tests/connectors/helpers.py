"""Tables, requests and short ways to read and write with a connector."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    """All rows of a bounded source, in their order; a leading row kind if the source gives one."""
    request = source_request(given, job_dir, ordered=order, **changes)
    frame = find_source((given.options or {})["connector"]).read(spark, request).frame
    rows = run(frame, job_dir / f"ck-{request.uid}") if frame.isStreaming else [tuple(r) for r in _sorted(frame)]
    hidden = sum(name in ("rk_major", "rk_seq") for name in frame.columns)
    width = len(request.columns)
    cut = [row[: len(row) - hidden] if hidden else row for row in rows]
    return [(row[-1], *row[:width]) if "rk_kind" in frame.columns else row for row in cut]


def _sorted(frame: DataFrame) -> list[Any]:
    names = [name for name in ("rk_major", "rk_seq") if name in frame.columns]
    return frame.orderBy(*names).collect() if names else frame.collect()


def run(frame: DataFrame, checkpoint: Path) -> list[tuple[Any, ...]]:
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
