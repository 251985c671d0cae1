"""Rows of a source as a call of Python reads them: in slots, as if an operator had given them, and counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.types import LogicalType
from execnodes.engine.slot_frames import read_column, to_kernel
from execnodes.kernels.polars_predicates import compile
from execnodes.lowering.slots import assign
from execnodes.lowering.stream import KIND, MAJOR, SEQUENCE
from execnodes.state.kernel_types import Column
from rekindle.connectors.in_tasks import ReadColumns, told_to_task
from rekindle.engine.observed import Seen
from rekindle.engine.sources import Reader
from rekindle.pipeline.record import Move, SourceRecord

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True, slots=True)
class Reading:
    """A source that is read in a call."""

    number: int
    """Of its node."""
    uid: str
    types: tuple[LogicalType, ...]
    """Of its columns."""
    read: ReadColumns
    moves: tuple[Move, ...]
    """Where rows move the watermark to, if they do."""

    @classmethod
    def of(cls, number: int, source: SourceRecord, reader: Reader, *, timed: bool) -> Reading | None:
        """How a call reads a source; None if Spark has to. `timed`: it must tell where rows move the watermark to."""
        moves = [each for each in source.moves if each is not None] if timed else []
        if timed and len(moves) < len(source.moves):
            return None
        read = reader.columns
        if read is None:
            return None
        return cls(number, source.uid, tuple(each.type for each in source.produced.fields), read, tuple(moves))

    def rows(self, task: int, tasks: int) -> tuple[pl.DataFrame, Seen]:
        """What a task of several is to read, in slots, with `KIND`, `SEQUENCE` and, where rows are ordered, `MAJOR`."""
        parts = [self._in_slots(each) for each in self.read(told_to_task(self.uid), task, tasks)]
        rows = pl.concat(parts) if parts else pl.DataFrame()
        return rows, Seen(len(rows), self._reached(rows) if self.moves and len(rows) else None)

    def _in_slots(self, table: pa.Table) -> pl.DataFrame:
        places = enumerate(zip(self.types, assign(self.types), strict=True))
        columns = (read_column(t, f"c{at}").alias(slot) for at, (t, slot) in places)
        order = [name for name in (SEQUENCE, MAJOR) if name in table.column_names]
        kind = pl.lit(int(RowKind.INSERT), pl.Int8).alias(KIND)
        return pl.DataFrame(table).select(*columns, *order).with_columns(kind)

    def _reached(self, rows: pl.DataFrame) -> int | None:
        """The latest time that a row moves the watermark to, epoch ms."""
        kernel = to_kernel(rows, [Column(f"c{at}", t) for at, t in enumerate(self.types)], ())
        micros = pl.max_horizontal(compile(each.value, each.columns) for each in self.moves).max()
        reached: int | None = kernel.select(micros.floordiv(1000)).item()
        return reached
