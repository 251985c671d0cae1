"""What a stateful operator is: declared inputs, output and state, and a pure step from a micro-batch to changes.

An operator lives in a Spark Python worker. It is called once a micro-batch and subtask with that subtask's rows, and
reads and writes its state by addresses (`State`). It holds no data of its own between calls.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.lowering.stream import HASH, KIND, SEQUENCE
from execnodes.state.kernel_types import Column, schema_of

BUCKET = "rk_bucket"
"""Second half of a state row's address, beside the hash of its key: e.g. the end of its window. Int64."""
DRAINED = 7_258_118_400_000
"""Watermark (epoch ms, year 2200) that says: the input has ended, everything may fire. pandas' time ends in 2262."""


@dataclass(frozen=True, slots=True)
class Former:
    """A layout that pages of a state were written in before."""

    columns: tuple[Column, ...]
    step: Callable[[pl.DataFrame], pl.DataFrame]
    """Its rows as the next layout has them; the address, and the time of writing, stay. It is picklable."""


@dataclass(frozen=True, slots=True)
class StateSpec:
    """One named state of an operator: rows of columns, addressed by (bucket, hash of the key)."""

    name: str
    columns: tuple[Column, ...]
    """Every column but the address."""
    ttl_ms: int = 0
    bucketed: bool = False
    """True where rows of one key live in several buckets that expire by time."""
    key: tuple[str, ...] = ()
    """Columns that are hashed, in the order of the exchange's key; none: all rows are of one key."""
    derived: bool = False
    """True for state that `Operator.restore` makes anew from the others; no savepoint holds it."""
    since: str = "1.0"
    """First release that writes this layout."""
    earlier: tuple[StateSpec, ...] = ()
    """What older releases kept instead, under other names; `Operator.restore` takes rows of it and moves them here."""
    former: tuple[Former, ...] = field(default=(), compare=False)
    """Layouts that pages of a job may still have, the oldest first."""

    @property
    def number(self) -> int:
        """Of the layout in which pages are written."""
        return len(self.former) + 1

    @property
    def schema(self) -> dict[str, pl.DataType]:
        """Kernel types of a state frame, address first."""
        head = {BUCKET: pl.Int64()} if self.bucketed else {}
        return {**head, HASH: pl.Int64(), **schema_of(self.columns)}


class State(Protocol):
    """Access to one named state of one subtask. Frames have `StateSpec.schema`."""

    def read(self, addresses: pl.DataFrame) -> pl.DataFrame:
        """All rows at these addresses (columns HASH, and BUCKET if bucketed); `write` replaces them."""
        ...

    def write(self, rows: pl.DataFrame) -> None:
        """Put rows in place of those at the addresses of the last `read`; rows at other addresses stay."""
        ...

    def append(self, rows: pl.DataFrame) -> None:
        """Add rows without reading or rewriting their pages; cheap for state that mostly grows."""
        ...

    def expire(self, until: int) -> pl.DataFrame:
        """Take out (read and delete) all rows whose bucket is <= `until`; only bucketed state."""
        ...

    def scan(self) -> pl.DataFrame:
        """All rows of the subtask; only bucketed state, whose rows are about to leave it."""
        ...

    def buckets(self) -> Sequence[int]:
        """Buckets that hold rows, ascending; only bucketed state."""
        ...


class Context(Protocol):
    """What an operator sees besides its rows."""

    watermark: int | None
    """Watermark at the start of the micro-batch, epoch ms; None before there is one; `DRAINED` at the end of input."""
    now: int
    """Processing time, epoch ms."""

    def state(self, name: str) -> State:
        """One of the declared states."""
        ...

    def wake_at(self, watermark: int) -> None:
        """Ask for `on_watermark` once the watermark has reached this (epoch ms)."""
        ...

    def count(self, metric: str, rows: int) -> None:
        """Add to a counter shown with the job, e.g. late rows dropped."""
        ...


class Operator(ABC):
    """A stateful operator. Subclasses are picklable and keep only what they were declared with."""

    uid: str
    inputs: tuple[tuple[Column, ...], ...]
    """Columns of each input; frames also hold KIND (Int8), HASH (Int64), SEQUENCE (Int64: the order inside the batch;
    rows are sorted by it when `ordered`) and, when `row_watermarks`, WATERMARK (Int64, null before the first)."""
    output: tuple[Column, ...]
    """Columns of the result, whose frames also hold KIND and may hold SEQUENCE (of the input row that caused the
    change) and WATERMARK."""
    states: tuple[StateSpec, ...]
    uses_time: bool = False
    """True if it needs the watermark or `on_watermark`."""
    waits_for_end: bool = False
    """True if it gives its result only when the input has ended, so that there must be an end."""
    ordered: bool = False
    """True if the order of rows inside a batch decides its result."""
    delay: int | None = None
    """Milliseconds by which the watermark behind it is less than its own, of operators that give rows at once, with the
    times of their inputs; what a watermark gave makes rows that stand before it, too (see `FIRED`)."""

    @property
    def earlier(self) -> tuple[StateSpec, ...]:
        """Layouts of older releases that `restore` takes; nothing is written under their names any more."""
        return tuple(dict.fromkeys(each for spec in self.states for each in spec.earlier))

    @abstractmethod
    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """One micro-batch of a subtask: a frame for each input (possibly empty) to the changes."""

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """The watermark has reached a time asked for with `wake_at`; comes after `process` of the same batch."""
        return None

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Take rows of a state from a savepoint; operators that wait for a watermark ask to be woken again.

        `name` may be that of an earlier layout (`StateSpec.earlier`): an operator that has one says where its rows go.
        Called any number of times for a state, in any order of states; `rows` may hold the time of writing, too.
        """
        context.state(name).append(rows)


def inserted() -> pl.Expr:
    """The row kind of rows that come: as many as the frame has, whose rows may have no column that anybody reads."""
    return pl.repeat(int(RowKind.INSERT), pl.len(), dtype=pl.Int8).alias(KIND)


def empty_output(operator: Operator) -> pl.DataFrame:
    """No changes."""
    return pl.DataFrame(schema={**schema_of(operator.output), KIND: pl.Int8(), SEQUENCE: pl.Int64()})


class LocalKernel(ABC):
    """A stateless pre-aggregation before the exchange: it sees the rows of one task, holds nothing between batches."""

    inputs: tuple[Column, ...]
    output: tuple[Column, ...]
    """The keys, then what is folded."""
    uses_time: bool = False
    """True if it must know which rows a watermark gave."""
    keys: tuple[int, ...]
    """The keys' columns in the input."""
    native: tuple[str, ...] | None = None
    """If Spark may fold instead: SQL of the output's slots behind the keys, over c0, c1, … (see `native_folds`)."""

    @abstractmethod
    def fold(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows (input columns, KIND, SEQUENCE if ordered, perhaps HASH of the keys) to fewer rows with the same hidden
        columns, all as insertions.
        """
