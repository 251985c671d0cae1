"""All calls of a node together: from a batch of rows and the state of its groups to old and new accumulators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from execnodes.aggregates import RECORD_COUNT, order_dependent
from execnodes.core.changelog import RowKind
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import BIGINT
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.accumulator import Accumulator, ColumnOf, Source
from execnodes.kernels.aggregates.counted import CountedValues
from execnodes.kernels.aggregates.frame import FILL, SIGN
from execnodes.kernels.aggregates.make import Feed, by_transitions, feed, make
from execnodes.kernels.aggregates.sequenced import SequencedValues
from execnodes.kernels.unsigned_zeros import drop_zero_signs
from execnodes.lowering.stream import HASH, KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, Context, StateSpec

KNOWN = "rk_known"
"""TRUE for a group that state has a row of; null for others."""


@dataclass(frozen=True)
class Aggregation:
    """Aggregate calls over the rows of an input; state is `states`, the groups' own first."""

    input: tuple[Column, ...]
    grouping: tuple[int, ...]
    calls: tuple[AggregateCall, ...]
    retract: bool
    """The input retracts rows."""
    state_name: str
    ttl_ms: int = 0
    bucketed: bool = False
    """Groups are told apart by BUCKET, too."""
    given_keys: tuple[Column, ...] | None = None
    """Keys that are columns of partial results, not of the input that the calls read."""
    further_keys: tuple[Column, ...] = ()
    """Keys behind those of `grouping` that rows have under these names."""

    @cached_property
    def keys(self) -> tuple[Column, ...]:
        """Key columns as in state."""
        columns = self.given_keys if self.given_keys is not None else (self.input[index] for index in self.grouping)
        types = (column.type for column in columns)
        return (*(Column(frame.key(i), t) for i, t in enumerate(types)), *self.further_keys)

    @property
    def _hashed(self) -> tuple[str, ...]:
        """Keys that the exchange goes by."""
        return tuple(key.name for key in self.keys[: len(self.keys) - len(self.further_keys)])

    @cached_property
    def group(self) -> tuple[str, ...]:
        """Columns that tell groups apart; the hash alone (a constant) without keys."""
        names = tuple(key.name for key in self.keys) or (HASH,)
        return (BUCKET, *names) if self.bucketed else names

    @cached_property
    def accumulators(self) -> tuple[Accumulator, ...]:
        """One a call."""
        args = (self.input[call.arg_list[0]].type if call.arg_list else None for call in self.calls)
        return tuple(make(call, arg, self.retract) for call, arg in zip(self.calls, args, strict=True))

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """State columns behind the keys."""
        record_count = (Column(RECORD_COUNT, BIGINT.not_null()),) if self.retract else ()
        return (*record_count, *(column for each in self.accumulators for column in each.columns))

    @cached_property
    def states(self) -> tuple[StateSpec, ...]:
        """The groups' accumulators, then the values behind some of them."""
        layouts = {self.state_name: self.columns}
        layouts |= {name: part.columns for name, part in self._counted.items()}
        layouts |= {name: part.columns for name, part in self._sequenced.items()}
        return tuple(
            StateSpec(name, (*self.keys, *columns), self.ttl_ms, self.bucketed, self._hashed)
            for name, columns in layouts.items()
        )

    def value_states(self) -> dict[str, tuple[tuple[str, ...], tuple[AggregateCall, ...]]]:
        """Names of the states with values to their columns for arguments, and the calls that are made from them."""
        parts: dict[str, CountedValues | SequencedValues] = {**self._counted, **self._sequenced}
        return {
            name: (tuple(column.name for column in part.types), tuple(each.call for each in _accumulators(part)))
            for name, part in parts.items()
        }

    @property
    def ordered(self) -> bool:
        """Whether the order of rows decides a result."""
        return any(order_dependent(call.internal_name) for call in self.calls)

    def prepare(self, rows: pl.DataFrame) -> pl.DataFrame:
        """The columns that are needed, by the names of `frame`."""
        read = {index for call in self.calls for index in (*call.arg_list, call.filter_arg) if index >= 0}
        keys = (self.input[index] for index in self.grouping)
        columns = [drop_zero_signs(key.type, pl.col(key.name)).alias(frame.key(i)) for i, key in enumerate(keys)]
        columns += [pl.col(self.input[index].name).alias(frame.arg(index)) for index in sorted(read)]
        columns += [pl.col(name) for name in (HASH, SEQUENCE) if name in rows.columns]
        if self.retract:
            columns.append(sign_of(pl.col(KIND)).alias(SIGN))
        columns += [pl.col(key.name) for key in self.further_keys]
        columns += [pl.col(BUCKET)] if self.bucketed else []
        return rows.select(columns)

    def fold(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Prepared rows to a row a group: what the batch adds to accumulators that need no values state."""
        plain = (each for each in self.accumulators if feed(each) is Feed.ROWS and not by_transitions(each))
        folds = {name: e for each in plain for name, e in each.fold(self._source(each)).items()}
        if self.retract:
            folds[RECORD_COUNT] = pl.col(SIGN).sum()
        return self._grouped(rows, folds)

    def combine(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows of a local aggregate (prepared by `prepare_partial`) to a row a group, as `fold` gives them."""
        folds = {name: e for each in self.accumulators for name, e in each.combine().items()}
        if self.retract:
            folds[RECORD_COUNT] = pl.col(RECORD_COUNT).sum()
        return self._grouped(rows, folds)

    def partial(self, folded: pl.DataFrame) -> pl.DataFrame:
        """What `fold` gave as rows that `combine` takes."""
        carried = [name for name in (HASH, SEQUENCE) if name in folded.columns and name not in self.group]
        return folded.select(*self.group, *carried, *(frame.added(c.name).alias(c.name) for c in self.columns))

    def prepare_partial(self, rows: pl.DataFrame, columns: Sequence[Column]) -> pl.DataFrame:
        """Rows of a local aggregate by the names of `frame`; `columns` end in the accumulators."""
        keys = [
            drop_zero_signs(here.type, pl.col(there.name)).alias(here.name)
            for there, here in zip(self.given_keys or (), self.keys, strict=True)
        ]
        behind = columns[len(columns) - len(self.columns) :]
        partial = [pl.col(there.name).alias(here.name) for there, here in zip(behind, self.columns, strict=True)]
        return rows.select(*keys, *partial, *(name for name in (HASH, SEQUENCE) if name in rows.columns))

    def delta(self, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """As `fold`, and what values states say, which are brought up to date."""
        found = self.fold(rows)
        for news in self._step(rows, context):
            found = frame.left_join(found, news, self.group)
        return found

    def merge(self, delta: pl.DataFrame, state: pl.DataFrame) -> pl.DataFrame:
        """The groups of `delta` with accumulators as they were (`frame.old`) and as they are (`frame.new`), KNOWN."""
        before = state if HASH in self.group else state.drop(HASH)
        touched = frame.left_join(delta, before.with_columns(pl.lit(True).alias(KNOWN)), self.group)
        merged: dict[str, pl.Expr] = {}
        for each in self.accumulators:
            merged |= self._merge(each)
        if self.retract:
            merged[RECORD_COUNT] = pl.col(RECORD_COUNT).fill_null(0) + frame.added(RECORD_COUNT)
        return touched.with_columns(e.alias(f"new:{name}") for name, e in merged.items())

    def after(self, before: pl.DataFrame, merged: pl.DataFrame) -> pl.DataFrame:
        """The new content of the pages that held `before`; groups without rows are gone."""
        alive = merged.filter(frame.new(RECORD_COUNT) != 0) if self.retract else merged
        schema = self.states[0].schema
        names = {column.name for column in self.columns}
        now = alive.select(frame.new(name).alias(name) if name in names else name for name in schema)
        return pl.concat([frame.anti_join(before, merged, self.group).select(*schema), now])

    def results(self, column: ColumnOf) -> list[pl.Expr]:
        """The calls' results over old, new or plain accumulator columns."""
        return [each.result(column) for each in self.accumulators]

    @cached_property
    def _counted(self) -> dict[str, CountedValues]:
        """State names to the values that calls over the same arguments share."""
        by_arguments: dict[tuple[int, ...], list[Accumulator]] = {}
        for each in self.accumulators:
            if by_transitions(each) or feed(each) is Feed.COUNTED:
                by_arguments.setdefault(each.call.arg_list, []).append(each)
        grows = not self.retract and not self.ttl_ms
        return {
            self._value_state("Values", each[0]): CountedValues(
                tuple(each),
                self._arguments(arguments, frame.VALUE, frame.FREQUENCY),
                self.group,
                grows and _all_distinct(each),
            )
            for arguments, each in by_arguments.items()
        }

    @cached_property
    def _sequenced(self) -> dict[str, SequencedValues]:
        """State names to the values of calls that go by arrival."""
        found = {}
        for each in self.accumulators:
            if feed(each) is Feed.SEQUENCED:
                at = each.call.arg_list
                names = (frame.VALUE,) if len(at) == 1 else (frame.MAP_KEY, frame.VALUE)
                found[self._value_state("Sequence", each)] = SequencedValues(
                    each, self._arguments(at, *names), self.group
                )
        return found

    def _arguments(self, places: tuple[int, ...], *names: str) -> tuple[Column, ...]:
        """Columns of the input as they stand in a values state, by the first of the names."""
        types = (self.input[at].type.with_nullable(True).regular() for at in places)
        return tuple(Column(name, t) for name, t in zip(names, types, strict=False))

    def _value_state(self, kind: str, first: Accumulator) -> str:
        """E.g. ``groupAggregateValues2``: what the third call reads, and maybe others behind it."""
        return f"{self.state_name.removesuffix('State')}{kind}{self.calls.index(first.call)}"

    def _step(self, rows: pl.DataFrame, context: Context) -> Iterator[pl.DataFrame]:
        schemas = {spec.name: spec.schema for spec in self.states}
        seen: dict[tuple[int, ...], tuple[CountedValues, pl.DataFrame]] = {}
        for name, counted in self._counted.items():
            news, merged = counted.step(rows, context.state(name), schemas[name])
            seen[counted.accumulators[0].call.arg_list] = counted, merged
            yield self._marked(news, name)
        for name, sequenced in self._sequenced.items():
            each = sequenced.accumulator
            source, read = self._source(each), rows
            if by_transitions(each):
                counted, read = seen[each.call.arg_list]
                source = counted.transitions(each)
            yield self._marked(sequenced.step(read, source, context.state(name), schemas[name]), name)

    def _marked(self, news: pl.DataFrame, state: str) -> pl.DataFrame:
        return news.rename({FILL: f"{FILL}:{state}"})

    def _merge(self, each: Accumulator) -> dict[str, pl.Expr]:
        if feed(each) is Feed.ROWS:
            return each.merge(frame.old, frame.added)
        states = self._counted if feed(each) is Feed.COUNTED else self._sequenced
        mark = next(f"{FILL}:{name}" for name, part in states.items() if each in _accumulators(part))
        return {
            column.name: pl.when(pl.col(mark)).then(frame.added(column.name)).otherwise(frame.old(column.name))
            for column in each.columns
        }

    def _source(self, each: Accumulator) -> Source:
        passes = None if each.call.filter_arg < 0 else pl.col(frame.arg(each.call.filter_arg)).fill_null(False)
        values = tuple(pl.col(frame.arg(index)) for index in each.call.arg_list)
        return Source(values, passes, pl.col(SIGN) if self.retract else None)

    def _grouped(self, rows: pl.DataFrame, folds: dict[str, pl.Expr]) -> pl.DataFrame:
        carried = [pl.col(HASH).first()] if HASH in rows.columns and HASH not in self.group else []
        carried += [pl.col(SEQUENCE).max()] if SEQUENCE in rows.columns else []
        group = [name for name in self.group if name in rows.columns]
        aggregated = [*carried, *(e.alias(frame.delta(name)) for name, e in folds.items())]
        return rows.group_by(group).agg(aggregated) if group else rows.select(aggregated)


def sign_of(kind: pl.Expr) -> pl.Expr:
    """1 for rows that add, -1 for rows that retract."""
    retracts = (kind == RowKind.UPDATE_BEFORE) | (kind == RowKind.DELETE)
    return pl.when(retracts).then(pl.lit(-1, pl.Int64)).otherwise(pl.lit(1, pl.Int64))


def _all_distinct(accumulators: Sequence[Accumulator]) -> bool:
    """Whether none needs to know how often a value occurs."""
    return all(by_transitions(each) for each in accumulators)


def _accumulators(part: CountedValues | SequencedValues) -> tuple[Accumulator, ...]:
    return part.accumulators if isinstance(part, CountedValues) else (part.accumulator,)
