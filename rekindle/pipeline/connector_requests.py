"""What scans and sinks of a plan ask of connectors: the one place that makes requests, for streams and for batch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.common.lookups import LookupNode
from execnodes.connectors import sink_changelog_mode
from execnodes.core.changelog import INSERT_ONLY, ChangelogMode
from execnodes.core.errors import PlanError
from execnodes.core.node import ExecNode
from execnodes.core.options import Configuration
from execnodes.core.tables import ResolvedTable, TableReference
from execnodes.core.types import LogicalType
from execnodes.lowering.stream import KIND, MAJOR, SEQUENCE, Condition
from rekindle.connectors.base import (
    LookupRequest,
    LookupTable,
    ProviderContext,
    SinkRequest,
    SinkWriter,
    SourceFrame,
    SourceRequest,
)
from rekindle.connectors.in_tasks import ReadColumns
from rekindle.connectors.jars import require_jars
from rekindle.connectors.positions import Positions
from rekindle.connectors.registry import endless, find_sink, find_source, require_bounded, require_overwriting
from rekindle.pipeline.resolved import in_full

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession

    from rekindle.connectors.data_stream import DataStream


@dataclass(frozen=True)
class Requests:
    """Of one start of a job."""

    spark: SparkSession
    configuration: Configuration
    job_dir: Path
    data_streams: Mapping[str, DataStream]
    """DataFrames that the session knows, by uid."""
    uids: set[str] = field(default_factory=set)
    """In use so far; connectors add theirs."""

    def read(
        self,
        node: ExecNode,
        table: TableReference,
        produced: LogicalType,
        *,
        batch: bool = False,
        ordered: bool = False,
        start: str | None = None,
        condition: Condition | None = None,
        located: bool = False,
        between: tuple[Any, Any] | None = None,
        in_tasks: int = 0,
        plain: bool = False,
    ) -> SourceFrame:
        """The rows of a table for which a condition is TRUE, the columns in the order of `produced`.

        The rest as in `SourceRequest`. PlanError if the table is not known, or gives other kinds of row than the plan
        says; ConnectorError if it cannot be read, or has no end in batch mode.
        """
        resolved, options = in_full(node, table)
        require_jars(self.spark, options, table.name)
        everything = batch and between is None and not in_tasks
        if everything:
            require_bounded(options, table.name)
        request = replace(
            self._request(node, table, resolved, produced),
            batch=batch,
            ordered=ordered,
            start=start,
            between=between,
            in_tasks=in_tasks,
            plain=plain,
            condition=condition,
            located=located,
        )
        given = find_source(options.get("connector", ""), table.name).read(self.spark, request)
        if everything and not given.bounded:
            raise endless(table.name)
        if (KIND in given.frame.columns) == node.changelog_mode.insert_only:
            came = "changes" if node.changelog_mode.insert_only else "only inserts"
            raise _another_table(node, table.name, f"gives {node.changelog_mode}", f"gives {came}")
        if condition is None or given.filtered:
            return given
        # The table is another one than when the plan was compiled.
        kept = condition.text(tuple(f"c{at}" for at in range(len(request.columns))))
        return replace(given, frame=given.frame.where(kept), filtered=True)

    def columns(
        self, node: ExecNode, table: TableReference, produced: LogicalType, *, ordered: bool, plain: bool
    ) -> ReadColumns | None:
        """What reads these columns in tasks (see `SourceConnector.columns`)."""
        resolved, options = in_full(node, table)
        request = replace(self._request(node, table, resolved, produced), ordered=ordered, plain=plain)
        return find_source(options.get("connector", ""), table.name).columns(request)

    def plain(self, node: ExecNode, table: TableReference, produced: LogicalType) -> bool:
        """Whether tasks can read these columns in a faster way (see `SourceConnector.plain`)."""
        resolved, options = in_full(node, table)
        return find_source(options.get("connector", ""), table.name).plain(
            self._request(node, table, resolved, produced)
        )

    def positions(self, node: ExecNode, table: TableReference) -> Positions | None:
        """How far micro-batches read a table; None if its batches are fed to the job."""
        resolved, options = in_full(node, table)
        require_jars(self.spark, options, table.name)
        request = self._request(node, table, resolved)
        return find_source(options.get("connector", ""), table.name).positions(self.spark, request)

    def lookup(self, node: LookupNode, types: pa.Schema) -> LookupTable:
        """What a lookup join asks; `types` of the columns that it reads."""
        table = node.temporal_table.lookup_table_source.table
        resolved, options = in_full(node, table)
        require_jars(self.spark, options, table.name)
        request = self._request(node, table, resolved, node.temporal_table.output_type)
        keys = tuple(each.column for each in node.lookup_keys)
        return find_source(options.get("connector", ""), table.name).lookup(LookupRequest(request, keys, types))

    def _request(
        self, node: ExecNode, table: TableReference, resolved: ResolvedTable, produced: LogicalType | None = None
    ) -> SourceRequest:
        """For all there is, in any order."""
        columns = {column.name: column for column in resolved.table_schema.columns}
        return SourceRequest(
            table=resolved,
            name=table.name,
            columns=tuple(columns[each.name] for each in (() if produced is None else produced.fields)),
            uid=node.uid("lookup-join" if isinstance(node, LookupNode) else "source"),
            batch=True,
            ordered=False,
            configuration=self.configuration,
            job_dir=self.job_dir,
            data_streams=self.data_streams,
            context=ProviderContext(node, self.uids),
        )

    def writer(
        self,
        node: ExecNode,
        table: TableReference,
        job_id: str,
        changelog: ChangelogMode = INSERT_ONLY,
        *,
        overwrite: bool = False,
    ) -> SinkWriter:
        """A new writer, which is not open yet, for rows of these kinds; it goes by the ids of the job and the sink.

        PlanError if the table is not known or no longer takes them, ConnectorError if it cannot be written.
        """
        resolved, options = in_full(node, table)
        require_jars(self.spark, options, table.name)
        if overwrite:
            require_overwriting(options, table.name)
        if sink_changelog_mode(options, resolved.table_schema.primary_key is not None, changelog) is None:
            raise _another_table(node, table.name, f"takes {changelog}", "takes only inserts")
        columns = resolved.table_schema.writable
        names = [column.name for column in columns]
        for taken in (KIND, MAJOR, SEQUENCE):
            if taken in names:
                raise node.fail(
                    f"a column that is written cannot be called {taken!r}: writers get another one by that name",
                    "Give it another name.",
                )
        key = resolved.table_schema.primary_key
        request = SinkRequest(
            table=resolved,
            name=table.name,
            columns=columns,
            primary_key=tuple(names.index(name) for name in key.columns) if key else (),
            job_id=f"{job_id}-{node.id}",
            job_dir=self.job_dir,
            changelog=changelog,
            configuration=self.configuration,
            overwrite=overwrite,
            context=ProviderContext(node, self.uids),
        )
        return find_sink(options.get("connector", ""), table.name).writer(self.spark, request)


def _another_table(node: ExecNode, table: str, then: str, now: str) -> PlanError:
    return node.fail(
        f"the plan was made for a table {table} that {then}, but its connector {now}",
        "Give the table the connector and format that it had, or compile the statement again.",
    )
