"""What a job writes into: the writer of a sink and the columns of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.changelog import ChangelogMode
from execnodes.core.options import Configuration
from execnodes.core.tables import Column
from rekindle.connectors.base import ProviderContext, SinkRequest
from rekindle.connectors.registry import find_sink
from rekindle.runtime.fan_out import Target
from rekindle.runtime.record import SinkRecord
from rekindle.runtime.resolved import in_full

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def target_of(
    spark: SparkSession,
    sink: SinkRecord,
    texts: Mapping[str, str],
    job_id: str,
    job_dir: Path,
    configuration: Configuration,
    uids: set[str],
) -> Target:
    """A sink with a new writer, which is not open yet; `texts`: see `sink_columns`."""
    table, options = in_full(sink.node, sink.table)
    columns = columns_of_sink(sink)
    names = [column.name for column in columns]
    key = table.table_schema.primary_key
    request = SinkRequest(
        table,
        sink.table.name,
        columns,
        tuple(names.index(name) for name in key.columns) if key else (),
        f"{job_id}-{sink.node.id}",
        job_dir,
        ChangelogMode(getattr(sink.node, "input_changelog_mode", sink.node.changelog_mode)),
        configuration,
        context=ProviderContext(sink.node, uids),
    )
    writer = find_sink(options.get("connector", ""), sink.table.name).writer(spark, request)
    return Target(sink.node.id, writer, dict(zip(names, texts.values(), strict=True)))


def columns_of_sink(sink: SinkRecord) -> tuple[Column, ...]:
    """The columns that rows are written to."""
    table = sink.table.resolved_table
    return table.table_schema.writable if table is not None else ()
