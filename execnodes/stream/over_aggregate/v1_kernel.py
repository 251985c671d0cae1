"""Kernels of stream-exec-over-aggregate over rows that only come: each gets its results once."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.types import BIGINT
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.user import CallsFunctions
from execnodes.lowering.stream import HASH, KIND, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, Context, Operator, StateSpec
from execnodes.stream.over_aggregate.v1_frames import ARRIVAL, GROUP, NEW, PLACE, TIME
from execnodes.stream.over_aggregate.v1_functions import OverFunctions

TOTALS = "overAggregateState"
ROWS = "overAggregateRowsState"
VALUES = "overAggregateValues"
_SOURCE = "rk_source"
VALUE = "value"
"""Column of such a state, behind the keys."""
_ARRIVALS = 1 << 21
"""Rows of a batch that are told apart in the order of arrival."""


@dataclass(frozen=True)
class OverShape:
    """What an operator is made of."""

    uid: str
    output: tuple[Column, ...]
    """The input's columns, then one a call."""
    keys: tuple[int, ...]
    functions: OverFunctions
    ttl_ms: int = 0
    lives: tuple[str, ...] = ()
    """Further columns that tell frames apart: rows of a key that was forgotten in between see nothing of each other."""

    @cached_property
    def key_columns(self) -> tuple[Column, ...]:
        """The keys as in state."""
        return tuple(Column(frame.key(at), self.functions.input[key].type) for at, key in enumerate(self.keys))

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """Their names."""
        return tuple(each.name for each in self.key_columns)

    def argument_columns(self, arguments: Sequence[int]) -> tuple[Column, ...]:
        """Arguments as in state."""
        types = ((at, self.functions.input[at].type) for at in arguments)
        return tuple(Column(frame.arg(at), t.with_nullable(True).regular()) for at, t in types)

    def rows_spec(self, *, bucketed: bool, ttl_ms: int) -> StateSpec:
        """The state of rows that are still in frames."""
        order = tuple(Column(name, BIGINT.not_null()) for name in (*self.lives, TIME, ARRIVAL))
        columns = (*self.key_columns, *self.argument_columns(self.functions.kept_arguments), *order)
        return StateSpec(ROWS, columns, ttl_ms, bucketed, self.key_names)

    def prepared(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Keys and arguments of rows that have TIME and ARRIVAL, by the names of `frame`."""
        names = [each.name for each in self.functions.input]
        keys = [pl.col(names[key]).alias(frame.key(at)) for at, key in enumerate(self.keys)]
        arguments = [pl.col(names[at]).alias(frame.arg(at)) for at in self.functions.arguments]
        return rows.select(HASH, *keys, *arguments, *self.lives, TIME, ARRIVAL)


class OverRows(CallsFunctions, Operator, ABC):
    """Computes results of rows of which none comes before one that has been computed."""

    ordered = True

    def __init__(self, shape: OverShape, *, bucketed: bool = False, kept_ms: int = 0) -> None:
        """`bucketed`: rows leave their frames by the watermark; `kept_ms`: or so long after their key's last one."""
        CallsFunctions.__init__(self, shape.functions.calls, shape.functions.input)
        self.shape = shape
        self.uid = shape.uid
        self.inputs = (shape.functions.input,)
        self.output = shape.output
        functions = shape.functions
        states = []
        if functions.frame.preceding is None:
            columns = (*shape.key_columns, *functions.totals)
            states += [StateSpec(TOTALS, columns, shape.ttl_ms, key=shape.key_names)] if functions.totals else []
            states += [
                StateSpec(f"{VALUES}{at}", (*shape.key_columns, Column(VALUE, column.type)), shape.ttl_ms,
                          key=shape.key_names)
                for at, column in zip(functions.distinct, shape.argument_columns(functions.distinct), strict=True)
            ]  # fmt: skip
        if functions.kept != 0:
            states.append(shape.rows_spec(bucketed=bucketed, ttl_ms=kept_ms or (0 if bucketed else shape.ttl_ms)))
        self.states = tuple(states)

    def compute(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """The rows (with TIME and ARRIVAL, in this order) with a column for each call; state is brought up to date."""
        shape, functions, keys = self.shape, self.shape.functions, self.shape.key_names
        new = shape.prepared(rows).with_columns(pl.lit(True).alias(NEW)).with_row_index(_SOURCE)
        held = self._held(new, context)
        together = pl.concat([held.with_columns(pl.lit(False).alias(NEW)), new], how="diagonal")
        laid = functions.frame.lay(together, [*keys, *shape.lives])
        totals, known = None, dict[int, pl.DataFrame]()
        if functions.frame.preceding is None:
            totals = context.state(TOTALS).read(new) if functions.totals else None
            for at in functions.distinct:
                values = context.state(f"{VALUES}{at}").read(new).rename({VALUE: frame.arg(at)})
                known[at] = functions.compared(values, (at,)).unique(maintain_order=True)
        found, made = functions.evaluate(laid, keys, totals, known, self.supplied())
        if totals is not None:
            self._add(found, made, totals, context)
        for at, values in known.items():
            self._remember(found, at, values, context)
        if functions.kept != 0:
            self._keep(laid, held, context)
        return rows.hstack(found.sort(_SOURCE).select(call.name for call in functions.calls))

    def addresses(self, new: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Where rows of the keys of new ones are, and where they will be."""
        return new.select(pl.col(HASH).unique())

    def placed(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows that are kept, with their BUCKET if the state has one."""
        return rows

    def _held(self, new: pl.DataFrame, context: Context) -> pl.DataFrame:
        if self.shape.functions.kept == 0:
            return new.clear().drop(_SOURCE)
        held = context.state(ROWS).read(self.addresses(new, context))
        return held.drop(BUCKET, strict=False)

    def _add(self, found: pl.DataFrame, made: pl.DataFrame, totals: pl.DataFrame, context: Context) -> None:
        """Write the accumulators after the last row of each key."""
        last = found.select(HASH, *self.shape.key_names, GROUP).hstack(made)
        last = last.unique(GROUP, keep="last", maintain_order=True)
        renamed = last.select(
            HASH,
            *self.shape.key_names,
            *(pl.col(frame.delta(each.name)).cast(each.dtype).alias(each.name) for each in self.shape.functions.totals),
        )
        others = frame.anti_join(totals, renamed, [HASH, *self.shape.key_names])
        context.state(TOTALS).write(pl.concat([others, renamed.select(others.columns)]))

    def _remember(self, found: pl.DataFrame, at: int, known: pl.DataFrame, context: Context) -> None:
        """Add the values that keys have for the first time."""
        state, value = context.state(f"{VALUES}{at}"), frame.arg(at)
        entry = [HASH, *self.shape.key_names, value]
        compared = self.shape.functions.compared(found.select(entry), (at,))
        fresh = frame.anti_join(compared.unique(maintain_order=True), known, entry)
        fresh = fresh.select(known.columns)
        if self.shape.ttl_ms:
            # A value is known as long as its key: all are written anew.
            state.write(pl.concat([known, fresh]).rename({value: VALUE}))
        else:
            state.append(fresh.rename({value: VALUE}))

    def _keep(self, laid: pl.DataFrame, held: pl.DataFrame, context: Context) -> None:
        functions = self.shape.functions
        state = context.state(ROWS)
        if functions.frame.preceding is None and functions.kept is None:
            state.append(self.placed(laid.filter(NEW)).select(held.columns))
            return
        if functions.kept is not None:
            stays = pl.col(PLACE) > pl.col(PLACE).last().over(GROUP) - functions.kept
        else:
            stays = pl.col(TIME) >= pl.col(TIME).last().over(GROUP) - (functions.frame.preceding or 0)
        kept = self.placed(laid.filter(stays))
        buckets = [BUCKET] if BUCKET in kept.columns else []
        state.write(kept.select(*buckets, *held.columns))


class OverByArrival(OverRows):
    """Frames by processing time: results come at once. All rows of a micro-batch come at one time."""

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """The rows of the batch with their results."""
        if batches[0].is_empty():
            return None
        rows = batches[0].with_columns(pl.lit(context.now, pl.Int64).alias(TIME), arrival(context))
        order = [SEQUENCE, WATERMARK] if WATERMARK in rows.columns else [SEQUENCE]
        found = self.compute(rows, context)
        return found.select(*(each.name for each in self.output), added(), *order)


def arrival(context: Context) -> pl.Expr:
    """The order in which rows come, across batches."""
    return (pl.lit(context.now, pl.Int64) * _ARRIVALS + pl.col(SEQUENCE).clip(0, _ARRIVALS - 1)).alias(ARRIVAL)


def added() -> pl.Expr:
    """The row kind of rows that come."""
    return pl.lit(int(RowKind.INSERT), pl.Int8).alias(KIND)
