"""The host of a stage: all its operators over tagged rows, keyed by (operator, subtask)."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from execnodes.core.places import Place
from execnodes.engine.inlet import Inlet, Spread, with_hash
from execnodes.engine.order import before_watermark, by_cause, joined, number_rows, restore_order, under_watermark
from execnodes.engine.packing import packed, unpack
from execnodes.engine.slot_frames import (
    HIDDEN_DTYPES,
    SLOT_DTYPES,
    TAG,
    spark_column,
    to_kernel,
    to_pandas,
    to_slots,
)
from execnodes.kernels.failing import failing_at
from execnodes.lowering.slots import SlotLayout
from execnodes.lowering.stream import FIRED, HASH, KIND, MAJOR, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, Context, LocalKernel, Operator, State
from execnodes.state.pages.page_format import WRITTEN
from execnodes.state.pages.pages import PagedState
from execnodes.state.pages.spark_client import client_for
from execnodes.user_functions.running import running_functions

CONVERTED = "rowsConverted"
"""Counter of rows that were read in a layout of before."""
STATE = "rk_state"
"""Which of its operator's states a restored row is of."""


@dataclass(frozen=True)
class StageShape:
    """Hidden columns and slots of a stage's frames."""

    layout: SlotLayout
    """Slots of the output frame."""
    ordered: bool
    """Rows carry their order (SEQUENCE, MAJOR)."""
    row_watermarks: bool
    """Rows carry the watermark before them."""
    keeps_hash: bool
    """Some rows pass through to a later stage, which needs the hash of their key."""
    every_change: bool = False
    """Operators take rows one by one, so that no change is folded away."""

    def travelling(self) -> tuple[str, ...]:
        """Hidden columns that every frame has besides the tag."""
        order = (SEQUENCE, MAJOR) if self.ordered else ()
        return (KIND, *order, *((WATERMARK,) if self.row_watermarks else ()))

    def kernel_hidden(self) -> tuple[str, ...]:
        """Hidden columns a kernel sees; it knows rows by one number (see `number_rows`)."""
        return (KIND, HASH, SEQUENCE, *((WATERMARK,) if self.row_watermarks else ()))

    def output_columns(self) -> tuple[str, ...]:
        """Columns of the stage's output frame."""
        return (TAG, *self.travelling(), *((HASH,) if self.keeps_hash else ()), *self.layout.names())

    def ddl(self) -> str:
        """Spark schema of the output frame."""
        return ", ".join(f"{name} {spark_column(name)}" for name in self.output_columns())


def state_name(operator: Operator, name: str) -> str:
    """What Spark knows an operator's state by."""
    return f"{operator.uid}__{name}"


class StageHost:
    """Routes each group's rows to its operator; rows that are for a later stage pass through."""

    def __init__(
        self,
        operators: dict[int, Operator],
        shape: StageShape,
        metrics: Any,
        floor: int | None = None,
        places: Mapping[int, Place | None] | None = None,
    ) -> None:
        """`operators` by node id; `metrics`: a Spark accumulator of dictionaries; `floor`: least watermark there is.

        `places`: where the SQL has the operators, by node id, for what fails in them.
        """
        self._floor = floor
        self._places = places or {}
        self._operators = operators
        self._shape = shape
        self._metrics = metrics

    def open(self, handle: Any, states: Mapping[str, Any]) -> None:
        """`handle`: Spark's; `states`: its map states by `state_name`."""
        self._handle = handle
        self._states = states

    def rows(self, key: Any, rows: Iterator[Any], timer_values: Any) -> Iterator[Any]:
        """One micro-batch of one subtask."""
        tag, group = int(key[0]), int(key[1])
        batch = unpack(rows)
        operator = self._operators.get(tag)
        if operator is None:
            passing = batch.with_columns(pl.lit(tag, pl.Int32).alias(TAG))
            yield to_pandas(_padded(passing, self._shape.output_columns()))
            return
        context = GroupContext(self._handle, self._states, operator, timer_values, self._floor)
        with running_functions(), failing_at(self._places.get(tag)):
            changes, order = process_rows(operator, batch, context, self._shape)
        self._report(operator, group, context)
        if changes is not None and len(changes):
            yield self._encode(changes, operator, tag, order)

    def timer(self, key: Any, timer_values: Any) -> Iterator[Any]:
        """The watermark has reached a time that the operator asked for."""
        tag, group = int(key[0]), int(key[1])
        operator = self._operators[tag]
        context = GroupContext(self._handle, self._states, operator, timer_values, self._floor)
        with running_functions(), failing_at(self._places.get(tag)):
            fired = wake(operator, context)
        self._report(operator, group, context)
        if fired is not None and len(fired):
            yield self._encode(fired, operator, tag, None)

    def restored(self, key: Any, rows: Any, timer_values: Any) -> None:
        """Rows of a savepoint for one subtask; `STATE` numbers the operator's states, those of older releases last."""
        tag, group = int(key[0]), int(key[1])
        operator = self._operators[tag]
        context = GroupContext(self._handle, self._states, operator, timer_values, self._floor)
        restore_rows(operator, unpack([rows]), context)
        self._report(operator, group, context)

    def _encode(self, changes: pl.DataFrame, operator: Operator, tag: int, order: pl.DataFrame | None) -> Any:
        return to_pandas(_encoded(changes, operator.output, tag, self._shape, order))

    def _report(self, operator: Operator, group: int, context: GroupContext) -> None:
        counts = context.finish()
        self._metrics.add({(operator.uid, name, group): value for name, value in counts.items()})


def process_rows(
    operator: Operator, rows: pl.DataFrame, context: Context, shape: StageShape
) -> tuple[pl.DataFrame | None, pl.DataFrame | None]:
    """The changes that rows of a subtask make, and the order of the rows (see `number_rows`)."""
    numbered, order = number_rows(rows, ordered=shape.ordered)
    if operator.uses_time and numbered.select((pl.col(KIND) >= FIRED).any()).item():
        numbered, context.watermark = before_watermark(numbered, context.watermark), None
    steps = by_cause(numbered, order) if shape.every_change else [numbered]
    changes = joined([operator.process(split_inputs(each, operator, shape), context) for each in steps], steps)
    if changes is not None and shape.every_change and len(operator.inputs) == 1:
        changes = under_watermark(changes, numbered)
    return changes, order


def wake(operator: Operator, context: Context) -> pl.DataFrame | None:
    """What an operator gives when the watermark wakes it, marked as such (`FIRED`)."""
    changes = operator.on_watermark(context)
    return None if changes is None else changes.with_columns((pl.col(KIND) + FIRED).cast(pl.Int8))


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


def split_inputs(batch: pl.DataFrame, operator: Operator, shape: StageShape) -> list[pl.DataFrame]:
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


def _encoded(
    changes: pl.DataFrame, columns: Sequence[Column], tag: int, shape: StageShape, order: pl.DataFrame | None
) -> pl.DataFrame:
    if shape.ordered:
        changes = restore_order(changes, order)
    hidden = (*shape.travelling(), HASH) if HASH in changes.columns else shape.travelling()
    slots = to_slots(changes, columns, shape.layout, hidden)
    return _padded(slots.with_columns(pl.lit(-tag, pl.Int32).alias(TAG)), shape.output_columns())


@dataclass
class GroupContext(Context):
    """`Context` over Spark's handle, for one call."""

    handle: Any
    states: Mapping[str, Any]
    operator: Operator
    timer_values: Any
    floor: int | None = None
    """Watermark of the savepoint that the job began from: a fresh checkpoint knows none."""
    _open: dict[str, PagedState] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        timed = self.operator.uses_time
        current = self.timer_values.getCurrentWatermarkInMs() if timed else 0
        # Spark's watermark is 0 until the first one: no event time is known then.
        known = max(current, (self.floor or 0) if timed else 0)
        self.watermark = known if known > 0 else None
        self.now = max(self.timer_values.getCurrentProcessingTimeInMs(), 0) or int(time.time() * 1000)

    def state(self, name: str) -> State:
        """Open a state once a call."""
        if name not in self._open:
            spec = next(each for each in self.operator.states if each.name == name)
            self._open[name] = PagedState(spec, client_for(self.states[state_name(self.operator, name)]), self.now)
        return self._open[name]

    def wake_at(self, watermark: int) -> None:
        """Register a timer of Spark's; it fires once the watermark is at least this."""
        # What was due at the savepoint's watermark is due as soon as Spark has a watermark of its own.
        due = self.floor is not None and watermark <= self.floor
        self.handle.registerTimer(1 if due else max(watermark, 1))

    def count(self, metric: str, rows: int) -> None:
        """Add to a counter of this call."""
        self._counts[metric] = self._counts.get(metric, 0) + rows

    def finish(self) -> dict[str, int]:
        """Write what is still open; counters and the rows of each state touched."""
        for state in self._open.values():
            state.flush()
            if state.rows_converted:
                self.count(CONVERTED, state.rows_converted)
        return {**self._counts, **{f"rows:{name}": state.total_rows for name, state in self._open.items()}}


@dataclass(frozen=True)
class Onward:
    """Where the rows of a lone pre-aggregation go: to the subtasks of one operator, packed in the same pass."""

    tag: int
    """Node id of the operator."""
    keys: tuple[str, ...]
    """Slots of its key."""
    spread: Spread

    def sent(self, folded: pl.DataFrame) -> pl.DataFrame:
        """Rows as they are packed."""
        return self.spread.subtasks(with_hash(folded, self.keys).with_columns(pl.lit(self.tag, pl.Int32).alias(TAG)))


def fold_locally(
    kernels: dict[int, LocalKernel], shape: StageShape, inlet: Inlet, batches: Iterator[Any]
) -> Iterator[Any]:
    """The body of a stateless stage (mapInArrow): pre-aggregate rows of some tags, pass the others through."""
    names = shape.output_columns()
    held: dict[int, list[pl.DataFrame]] = {tag: [] for tag in kernels}
    for batch in batches:
        frame = inlet.read([batch])
        for tag in kernels:
            held[tag].append(frame.filter(pl.col(TAG) == tag))
        rest = frame.filter(~pl.col(TAG).is_in(list(kernels)))
        if len(rest):
            yield from plain_record_batches(_padded(rest, names))
    for tag, frames in held.items():
        if frames:
            yield from plain_record_batches(_folded(tag, kernels[tag], pl.concat(frames), shape))


def fold_alone(
    tag: int, kernel: LocalKernel, shape: StageShape, inlet: Inlet, onward: Onward | None, batches: Iterator[Any]
) -> Iterator[Any]:
    """`fold_locally` where all rows are for one kernel; with `onward` its results are packed."""
    given = list(batches)
    if not given:
        return
    folded = _folded(tag, kernel, inlet.read(given), shape)
    yield from plain_record_batches(folded) if onward is None else packed(onward.sent(folded))


def _folded(tag: int, kernel: LocalKernel, rows: pl.DataFrame, shape: StageShape) -> pl.DataFrame:
    numbered, order = number_rows(rows, ordered=shape.ordered)
    hidden = tuple(name for name in shape.kernel_hidden() if name != HASH)
    fired = numbered[KIND] >= FIRED
    if kernel.uses_time and fired.any():
        # Rows that a watermark gave stand before it, and so does what they are folded to.
        before = before_watermark(numbered, None)
        parts = [_folded_alike(kernel, before.filter(each), order, hidden, shape) for each in (~fired, fired)]
        marked = parts[1].with_columns((pl.col(KIND) + FIRED).cast(pl.Int8))
        return _encoded(pl.concat([parts[0], marked], how="diagonal"), kernel.output, tag, shape, order)
    return _encoded(_folded_alike(kernel, numbered, order, hidden, shape), kernel.output, tag, shape, order)


def _folded_alike(
    kernel: LocalKernel, numbered: pl.DataFrame, order: pl.DataFrame | None, hidden: tuple[str, ...], shape: StageShape
) -> pl.DataFrame:
    steps = by_cause(numbered, order) if shape.every_change and len(numbered) else [numbered]
    with running_functions():
        changes = joined([kernel.fold(_plain_kinds(to_kernel(step, kernel.inputs, hidden))) for step in steps], steps)
    assert changes is not None
    return under_watermark(changes, numbered) if shape.every_change else changes


def _padded(frame: pl.DataFrame, names: Sequence[str]) -> pl.DataFrame:
    present = set(frame.columns)
    absent = (
        pl.lit(None, HIDDEN_DTYPES.get(name, SLOT_DTYPES.get(name[0]))).alias(name)
        for name in names
        if name not in present
    )
    return frame.with_columns(absent).select(names)


def plain_record_batches(frame: pl.DataFrame) -> Iterator[Any]:
    """Record batches in the types Spark expects of the stage's schema."""
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
