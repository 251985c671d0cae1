"""An operator, or a pre-aggregation, over rows in slots: what both halves of a frame's columns mean to it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from execnodes.engine.order import before_watermark, by_cause, joined, number_rows, restore_order, under_watermark
from execnodes.engine.slot_frames import spark_column, to_kernel, to_slots
from execnodes.lowering.slots import SlotLayout
from execnodes.lowering.stream import FIRED, HASH, KIND, MAJOR, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, Context, LocalKernel, Operator
from execnodes.state.pages.page_format import WRITTEN

STATE = "rk_state"
"""Which of its operator's states a restored row is of."""


@dataclass(frozen=True)
class FrameShape:
    """Hidden columns and slots of the frame that an operator gives."""

    layout: SlotLayout
    """Its slots."""
    ordered: bool
    """Rows carry their order (SEQUENCE, MAJOR)."""
    row_watermarks: bool
    """Rows carry the watermark before them."""
    every_change: bool = False
    """Operators take rows one by one, so that no change is folded away."""

    def travelling(self) -> tuple[str, ...]:
        """Hidden columns, which every such frame has."""
        order = (SEQUENCE, MAJOR) if self.ordered else ()
        return (KIND, *order, *((WATERMARK,) if self.row_watermarks else ()))

    def kernel_hidden(self) -> tuple[str, ...]:
        """Hidden columns a kernel sees; it knows rows by one number (see `number_rows`)."""
        return (KIND, HASH, SEQUENCE, *((WATERMARK,) if self.row_watermarks else ()))

    def ddl(self) -> str:
        """Its Spark schema."""
        return ", ".join(f"{name} {spark_column(name)}" for name in (*self.travelling(), *self.layout.names()))


def process_rows(
    operator: Operator, rows: pl.DataFrame, context: Context, shape: FrameShape
) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """The changes that rows of a subtask make, and the order of the rows (see `number_rows`)."""
    numbered, order = number_rows(rows, ordered=shape.ordered)
    fired = operator.uses_time and numbered.select((pl.col(KIND) >= FIRED).any()).item()
    if fired:
        numbered, context.watermark = before_watermark(numbered, context.watermark), None
    steps = by_cause(numbered, order) if shape.every_change else [numbered]
    changes = joined([operator.process(split_inputs(each, operator, shape), context) for each in steps], steps)
    if changes is not None and shape.every_change and len(operator.inputs) == 1:
        changes = under_watermark(changes, numbered)
    if changes is not None and fired and operator.delay is not None:
        changes = _marked(changes)
    return changes, order


def wake(operator: Operator, context: Context) -> pl.DataFrame | None:
    """What an operator gives when the watermark wakes it, marked as such (`FIRED`)."""
    changes = operator.on_watermark(context)
    return None if changes is None else _marked(changes)


def _marked(changes: pl.DataFrame) -> pl.DataFrame:
    return changes.with_columns((pl.col(KIND) + FIRED).cast(pl.Int8))


def restore_rows(operator: Operator, rows: pl.DataFrame, context: Context) -> None:
    """Hand an operator rows of a savepoint; `STATE` numbers its states, those of older releases last."""
    for number, spec in enumerate((*operator.states, *operator.earlier)):
        own = rows.filter(pl.col(STATE) == number)
        if len(own):
            address = [BUCKET, HASH] if spec.bucketed else [HASH]
            written = [WRITTEN] if spec.ttl_ms else []
            kernel = to_kernel(own, spec.columns, [*address, *written])
            ordered = kernel.select(*address, *(column.name for column in spec.columns), *written)
            operator.restore(spec.name, ordered.with_columns(pl.col(*address, *written).cast(pl.Int64)), context)


def _plain_kinds(rows: pl.DataFrame) -> pl.DataFrame:
    """Row kinds without what travels in them."""
    return rows.with_columns((pl.col(KIND) % 4).cast(pl.Int8))


def split_inputs(batch: pl.DataFrame, operator: Operator, shape: FrameShape) -> list[pl.DataFrame]:
    """One kernel frame an input; the number of the input travels in the row kind."""
    single = len(operator.inputs) == 1
    hidden = shape.kernel_hidden()
    if WATERMARK in batch.columns and WATERMARK not in hidden:
        hidden = (*hidden, WATERMARK)
    frames = []
    for number, columns in enumerate(operator.inputs):
        rows = batch if single else batch.filter(pl.col(KIND) // 4 % 2 == number)
        kernel = to_kernel(rows, columns, hidden)
        frames.append(_plain_kinds(kernel))
    return frames


def encoded(
    changes: pl.DataFrame, columns: Sequence[Column], shape: FrameShape, order: pl.DataFrame | None
) -> pl.DataFrame:
    """Changes as rows in slots; `order`: of the rows that made them (see `number_rows`)."""
    if shape.ordered:
        changes = restore_order(changes, order)
    return to_slots(changes, columns, shape.layout, shape.travelling())


def folded(kernel: LocalKernel, rows: pl.DataFrame, shape: FrameShape) -> pl.DataFrame:
    """What a pre-aggregation makes of the rows of a task."""
    numbered, order = number_rows(rows, ordered=shape.ordered)
    hidden = tuple(name for name in shape.kernel_hidden() if name != HASH)
    fired = numbered[KIND] >= FIRED
    if kernel.uses_time and fired.any():
        # Rows that a watermark gave stand before it, and so does what they are folded to.
        before = before_watermark(numbered, None)
        parts = [_folded_alike(kernel, before.filter(each), order, hidden, shape) for each in (~fired, fired)]
        return encoded(pl.concat([parts[0], _marked(parts[1])], how="diagonal"), kernel.output, shape, order)
    return encoded(_folded_alike(kernel, numbered, order, hidden, shape), kernel.output, shape, order)


def _folded_alike(
    kernel: LocalKernel, numbered: pl.DataFrame, order: pl.DataFrame | None, hidden: tuple[str, ...], shape: FrameShape
) -> pl.DataFrame:
    steps = by_cause(numbered, order) if shape.every_change and len(numbered) else [numbered]
    changes = joined([kernel.fold(_plain_kinds(to_kernel(step, kernel.inputs, hidden))) for step in steps], steps)
    assert changes is not None
    return under_watermark(changes, numbered) if shape.every_change else changes


def plain_record_batches(frame: pl.DataFrame) -> Iterator[Any]:
    """Record batches in the types that Spark expects."""
    import pyarrow as pa

    if frame.is_empty():
        return
    types = {
        "string_view": pa.string(),
        "binary_view": pa.binary(),
        "large_string": pa.string(),
        "large_binary": pa.binary(),
    }
    table = frame.to_arrow()
    plain = pa.schema([pa.field(each.name, types.get(str(each.type), each.type)) for each in table.schema])
    yield from table.cast(plain).to_batches()
