"""Rows on their way to a keyed stage, packed: one binary value for many rows of a subtask.

PySpark regroups what an operator is given row by row, as Python tuples, some microseconds each. A packed value is one
row to it; inside is an Arrow stream with the columns as they were.

Why: docs/decisions/0011-packed-rows.md.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator
from typing import Any

import polars as pl

from execnodes.engine.inlet import Inlet, Spread
from execnodes.engine.slot_frames import SUBTASK, TAG

ROWS = "rk_rows"
PACKED_DDL = f"{TAG} int, {SUBTASK} int, {ROWS} binary"
"""Spark schema of packed rows."""
_ROWS_A_VALUE = 50_000
"""Bounds the size of one value: Spark holds it in memory as a whole."""


def pack(inlet: Inlet, spread: Spread, batches: Iterable[Any]) -> Iterator[Any]:
    """The body of mapInArrow: record batches with `TAG`, `HASH` and any columns to packed rows, order kept."""
    from pyspark import TaskContext

    task = TaskContext.get()
    for batch in batches:
        yield from packed(spread.subtasks(inlet.read([batch]), 0 if task is None else task.partitionId()))


def packed(frame: pl.DataFrame) -> Iterator[Any]:
    """Packed rows of a frame with `TAG` and `SUBTASK`, as a record batch; none of an empty one."""
    import pyarrow as pa

    tags, subtasks, values = [], [], []
    for (tag, subtask), rows in frame.partition_by(TAG, SUBTASK, as_dict=True, include_key=False).items():
        for part in rows.iter_slices(_ROWS_A_VALUE):
            tags.append(tag)
            subtasks.append(subtask)
            values.append(_written(part))
    if values:
        columns = [pa.array(tags, pa.int32()), pa.array(subtasks, pa.int32()), pa.array(values, pa.binary())]
        yield pa.RecordBatch.from_arrays(columns, names=[TAG, SUBTASK, ROWS])


def unpack(frames: Iterable[Any]) -> pl.DataFrame:
    """Pandas frames of packed rows of one tag and subtask to the rows, without those two columns."""
    return pl.concat([pl.read_ipc_stream(value) for frame in frames for value in frame[ROWS]])


def _written(rows: pl.DataFrame) -> bytes:
    buffer = io.BytesIO()
    rows.write_ipc_stream(buffer)
    return buffer.getvalue()
