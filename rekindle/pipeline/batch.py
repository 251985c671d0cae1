"""A batch plan as Spark DataFrames: what batch nodes are offered, and what goes into each sink."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.common.batch import BatchNode, BatchRows, aliased
from execnodes.core.changelog import RowKind
from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from execnodes.core.places import Place, of_node, one_lowering, over_rows_from
from execnodes.core.source_node import SourceNode
from execnodes.lowering.event_times import MissingTime
from execnodes.lowering.spark_sql import literal, spark_type
from execnodes.lowering.stream import KIND, quote
from plans.format.places import places_of
from rekindle.connectors.base import SinkWriter
from rekindle.connectors.line_text import origin
from rekindle.pipeline.connector_requests import Requests
from rekindle.pipeline.resolved import in_full

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from execnodes.core.expressions import Literal
    from execnodes.core.node import ExecNode
    from execnodes.core.tables import TableReference
    from execnodes.core.types import LogicalType
    from rekindle.connectors.data_stream import DataStream


@dataclass(frozen=True)
class BatchTarget:
    """A sink and all that goes into it."""

    writer: SinkWriter
    frame: DataFrame
    """Columns named as the sink's, then `KIND`."""


class BatchBuilder:
    """Lowers one graph; implements `BatchLowering`."""

    def __init__(
        self,
        spark: SparkSession,
        graph: ExecGraph,
        configuration: Configuration,
        job_id: str,
        job_dir: Path,
        data_streams: Mapping[str, DataStream],
    ) -> None:
        """`data_streams`: DataFrames that the session knows, by uid."""
        self._spark = spark
        self._graph = graph
        self._job_id = job_id
        self._requests = Requests(spark, configuration, job_dir, data_streams)
        self.targets: list[BatchTarget] = []
        """In the order of the statements."""
        self.kept: list[DataFrame] = []
        """Frames that several sinks read: kept when first computed, to be given back at the end."""

    def build(self) -> None:
        """Make `targets`; errors that can be known before anything runs are raised here."""
        reached = sinks_reached(self._graph)
        self._located = located(self._graph)
        made: dict[int, BatchRows] = {}
        with one_lowering():
            for node in self._graph.nodes:
                rows = self._lowered(node, tuple(made[each] for each in self._graph.inputs[node.id]))
                if len({reached[each.id] for each in self._graph.consumers_of(node)}) > 1:
                    # What is kept are rows, not the lines that they were; of a table it may be both.
                    rows = rows.plain() if self._graph.inputs[node.id] else rows
                    rows = replace(rows, frame=rows.frame.persist())
                    self.kept.append(rows.frame)
                made[node.id] = rows

    def _lowered(self, node: ExecNode, inputs: tuple[BatchRows, ...]) -> BatchRows:
        if not isinstance(node, BatchNode):
            raise node.fail("it is no batch node")
        if not inputs:
            rows = node.lower_batch(self, ())
            return replace(rows, origin=tuple(rows.frame.columns[len(rows.type.fields) :]))
        if not node.keeps_rows:
            inputs = tuple(each.plain() for each in inputs)
        text = origin(inputs[0].origin)
        with of_node(node.place), over_rows_from(text) if text is not None else nullcontext():
            return node.lower_batch(self, self._with_times(node, inputs))

    def _with_times(self, node: BatchNode, inputs: tuple[BatchRows, ...]) -> tuple[BatchRows, ...]:
        """Inputs, of which rows fail that have no event time where the node goes by it."""
        place = node.place or Place(f"node {node.id} ({node.key})", 0, 0)
        given = list(inputs)
        for side, columns in enumerate(node.required_times()):
            below = self._graph.inputs_of(node)[side]
            texts = list(given[side].columns)
            for at in columns:
                field = below.output_type.fields[at]
                missing = MissingTime.of(field.name, self._table_of(below), place)
                texts[at] = missing.require(field.type, texts[at])
            given[side] = given[side].project(given[side].type, texts)
        return tuple(given)

    def _table_of(self, node: ExecNode) -> str | None:
        """The table that a node's rows come straight from."""
        while self._graph.inputs[node.id]:
            if not (isinstance(node, BatchNode) and node.keeps_rows and len(self._graph.inputs[node.id]) == 1):
                return None
            (node,) = self._graph.inputs_of(node)
        return node.source.name if isinstance(node, SourceNode) else None

    def scan(self, node: ExecNode, table: TableReference, produced: LogicalType) -> DataFrame:
        """See `BatchLowering`."""
        return self._requests.read(node, table, produced, batch=True, located=node.id in self._located).frame

    def values(self, node: ExecNode, tuples: tuple[tuple[Literal, ...], ...], produced: LogicalType) -> DataFrame:
        """See `BatchLowering`."""
        types = [field.type for field in produced.fields]
        if not tuples:
            return self._spark.range(0).selectExpr(*aliased([f"CAST(NULL AS {spark_type(t)})" for t in types]))
        rows = []
        for values in tuples:
            cells = (f"'c{at}', {literal(v.value, t)}" for at, (v, t) in enumerate(zip(values, types, strict=True)))
            rows.append(f"named_struct({', '.join(cells)})")
        return self._spark.range(0, 1, 1, 1).selectExpr(f"inline(array({', '.join(rows)}))")

    def sink(self, node: ExecNode, table: TableReference, rows: BatchRows, *, overwrite: bool) -> None:
        """See `BatchLowering`."""
        columns = in_full(node, table)[0].table_schema.writable
        writer = self._requests.writer(node, table, self._job_id, overwrite=overwrite)
        writer.open()
        types = [column.data_type for column in columns]
        texts = [
            f"CAST({text} AS {spark_type(t)}) AS {quote(name)}"
            for text, t, name in zip(rows.columns, types, (column.name for column in columns), strict=True)
        ]
        kind = f"CAST({int(RowKind.INSERT)} AS TINYINT) AS {KIND}"
        self.targets.append(BatchTarget(writer, rows.frame.selectExpr(*texts, kind)))


def located(graph: ExecGraph) -> frozenset[int]:
    """Ids of nodes whose rows go on one by one to a node that can fail for one, and is to say which it was."""
    found = set[int]()
    for node in reversed(graph.nodes):
        takers = (each for each in graph.consumers_of(node) if isinstance(each, BatchNode) and each.keeps_rows)
        if any(each.id in found or places_of([each]) for each in takers):
            found.add(node.id)
    return frozenset(found)


def sinks_reached(graph: ExecGraph) -> Mapping[int, frozenset[int]]:
    """Node id to the ids of the sinks that its rows go into."""
    reached: dict[int, frozenset[int]] = {}
    for node in reversed(graph.nodes):
        consumers = graph.consumers_of(node)
        reached[node.id] = frozenset().union(*(reached[each.id] for each in consumers)) or frozenset({node.id})
    return reached
