"""The one foreachBatch of a pipeline: every sink gets its rows of a micro-batch, and all of them move together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from execnodes.core.errors import RekindleError
from execnodes.engine.slot_frames import TAG
from execnodes.lowering.stream import quote
from rekindle.connectors.base import SinkWriter
from rekindle.pipeline.failures import describe_sink_failure
from rekindle.runtime.gate import Gate

if TYPE_CHECKING:
    from pyspark.sql import DataFrame
    from pyspark.sql.streaming.readwriter import DataStreamWriter


@dataclass(frozen=True)
class Target:
    """A sink of a pipeline."""

    node_id: int
    writer: SinkWriter
    columns: Mapping[str, str]
    """Name in the table to Spark SQL text."""
    table: str
    """Its name, for messages."""


class FanOut:
    """Callable for foreachBatch; remembers the error a sink raised, since Spark only keeps its text."""

    def __init__(self, targets: Sequence[Target], hidden: Sequence[str], gate: Gate) -> None:
        self._targets = targets
        self._hidden = hidden
        self._gate = gate
        self.error: RekindleError | None = None

    def attach(self, frame: DataFrame) -> DataStreamWriter:
        """The end of the query: this callable, or the Spark sink that does what the only writer does."""
        format = self._targets[0].writer.stream_format if len(self._targets) == 1 else None
        if format is None:
            return frame.writeStream.foreachBatch(self)
        return self._rows(frame, self._targets[0]).writeStream.format(format)

    def _rows(self, frame: DataFrame, target: Target) -> DataFrame:
        """A sink's rows of the pipeline's frame, under the names of its columns."""
        rows = frame if len(self._targets) == 1 else frame.where(f"{TAG} = {target.node_id}")
        texts = (f"{text} AS {quote(name)}" for name, text in target.columns.items())
        return rows.selectExpr(*texts, *self._hidden)

    def __call__(self, batch: DataFrame, batch_id: int) -> None:
        """Write a micro-batch to every sink."""
        self._gate.enter(batch_id)
        try:
            self._write(batch, batch_id)
        except RekindleError as error:
            self.error = error
            raise

    def _put(self, target: Target, rows: DataFrame, batch_id: int) -> None:
        try:
            target.writer.write(rows, batch_id)
        except OSError as error:
            described = describe_sink_failure(error, target.table)
            if described is None:
                raise
            raise described from error

    def _write(self, batch: DataFrame, batch_id: int) -> None:
        # A frame behind stateful operators may be computed only once, whatever the sinks do with it.
        once = len(self._targets) == 1 and self._targets[0].writer.single_pass
        frame = batch if once else batch.persist()
        try:
            for target in self._targets:
                self._put(target, self._rows(frame, target), batch_id)
        finally:
            if not once:
                frame.unpersist()
