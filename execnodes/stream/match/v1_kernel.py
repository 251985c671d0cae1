"""Kernel of stream-exec-match_1: rows wait for the watermark, then matches are looked for key by key.

State: rows that the watermark has not passed, bucketed by time; of each key, the rows from the first one of a match
that has begun on. Of a match that has begun nothing else is kept: looking at its rows again finds it again, as far as
it had come, and matches that were given cannot be found, since the next one begins behind their first row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import accumulate

import polars as pl

from execnodes.core.expressions import AggregateCall
from execnodes.core.match_spec import MatchSpec
from execnodes.core.types import BIGINT
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.aggregation import Aggregation
from execnodes.kernels.aggregates.whole import Nothing
from execnodes.lowering.stream import HASH, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, StateSpec, inserted
from execnodes.stream.match.v1_automaton import Run
from execnodes.stream.match.v1_search import GROUP, TIME, Search, place_of, rows_of
from execnodes.stream.over_aggregate.v1_event_time import LATE, SPAN, end, end_of
from execnodes.stream.over_aggregate.v1_kernel import arrival

WAITING, BEGUN, TIMEOUTS = "matchWaitingState", "matchState", "matchTimeouts"
ARRIVAL, DUE = "rk_arrival", "rk_due"
_EVER = 2**62
_MATCH = "rk_match"


class MatchOperator(Operator):
    """Finds the matches of each key among its rows in order of event time; rows only come."""

    uses_time = True
    ordered = True

    def __init__(self, uid: str, spec: MatchSpec, columns: tuple[Column, ...], output: tuple[Column, ...]) -> None:
        """`columns`: of the input; `output`: the keys, then the measures."""
        self.uid = uid
        self.spec = spec
        self.inputs = (columns,)
        self.output = output
        self.names = [each.name for each in columns]
        self.keys = [self.names[each] for each in spec.partition]
        self.time = self.names[spec.order_by.fields[0].index]
        rows = (*columns, Column(ARRIVAL, BIGINT.not_null()))
        key = tuple(self.keys)
        self.states: tuple[StateSpec, ...] = (
            StateSpec(WAITING, rows, bucketed=True, key=key, since="2.5"),
            StateSpec(BEGUN, rows, key=key, since="2.5"),
        )
        if spec.within is not None:
            self.states += (StateSpec(TIMEOUTS, (Column(DUE, BIGINT),), bucketed=True, derived=True),)

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Let the rows wait that are not late."""
        batch = batches[0]
        if batch.is_empty():
            return None
        seen = [pl.lit(context.watermark, pl.Int64), *([WATERMARK] if WATERMARK in batch.columns else [])]
        late = (self._time <= pl.max_horizontal(seen)).fill_null(False)
        rows = batch.with_columns(arrival(context)).filter(~late)
        if rows.height < batch.height:
            context.count(LATE, batch.height - rows.height)
        self._wait(rows, context)
        return None

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Matches that are known now."""
        if context.watermark is None:
            return None
        until = _EVER if context.watermark >= DRAINED else context.watermark
        told = context.state(WAITING).expire(end(until, SPAN))
        self._wait(told.filter(self._time > until), context)
        due = told.filter(self._time <= until).drop(BUCKET)
        addresses = pl.concat([due.select(HASH), self._timed_out(until, context)]).unique()
        found = None
        if addresses.height:
            found = self._look(due, addresses, until, context)
        self._wake(context)
        return found

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Rows wait again, and time runs out for what has begun."""
        super().restore(name, rows, context)
        if name == BEGUN and self.spec.within is not None and rows.height:
            first = rows.group_by(HASH).agg((self._time.min() + self.spec.within).alias(DUE))
            self._time_out(first, context)
        self._wake(context)

    @property
    def _time(self) -> pl.Expr:
        return pl.col(self.time).floordiv(1000)

    def _wait(self, rows: pl.DataFrame, context: Context) -> None:
        if rows.height:
            bucketed = rows.with_columns(end_of(self._time, SPAN).alias(BUCKET))
            context.state(WAITING).append(bucketed.select(*self.states[0].schema))
            context.wake_at(min(int(str(rows.select(self._time.min()).item())), DRAINED - 1))

    def _wake(self, context: Context) -> None:
        """Ask for the first time that a bucket may hold."""
        for spec in self.states:
            ahead = context.state(spec.name).buckets() if spec.bucketed else ()
            if ahead:
                context.wake_at(min(ahead[0] - SPAN + 1, DRAINED - 1))

    def _time_out(self, times: pl.DataFrame, context: Context) -> None:
        """Look again at keys (HASH) when the watermark reaches their DUE."""
        if times.height:
            bucketed = times.with_columns(end_of(pl.col(DUE), SPAN).alias(BUCKET))
            context.state(TIMEOUTS).append(bucketed.select(*self.states[-1].schema))

    def _timed_out(self, until: int, context: Context) -> pl.DataFrame:
        if self.spec.within is None:
            return pl.DataFrame(schema={HASH: pl.Int64()})
        told = context.state(TIMEOUTS).expire(end(until, SPAN)).drop(BUCKET)
        self._time_out(told.filter(pl.col(DUE) > until), context)
        return told.filter(pl.col(DUE) <= until).select(HASH)

    def _look(self, due: pl.DataFrame, addresses: pl.DataFrame, until: int, context: Context) -> pl.DataFrame | None:
        """Look at the rows of some keys, and keep those of what has begun."""
        state = context.state(BEGUN)
        begun = state.read(addresses)
        rows = self._in_order(pl.concat([begun, due.select(begun.columns)]))
        search = Search(self.spec, self.uid, rows, self.names)
        matches, kept, timeouts = list[tuple[int, Run]](), list[range](), list[int]()
        for group in search.groups():
            found = search.find(group, until)
            # A match that has waited for an earlier one comes behind it.
            times = accumulate((search.times[each[-1] - 1] for each in found.matches), max)
            matches += zip(times, found.matches, strict=True)
            kept.append(range(found.kept_from, group.stop))
            if found.times_out is not None:
                timeouts.append(found.times_out)
        state.write(rows[[row for each in kept for row in each]].select(*self.states[1].schema))
        if self.spec.within is not None:
            due_at = (pl.col(TIME) + self.spec.within).alias(DUE)
            self._time_out(rows[timeouts].select(HASH, due_at), context)
        if not matches:
            return None
        matches.sort(key=lambda each: each[0])
        return self._given(rows, [run for _, run in matches])

    def _in_order(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Rows key by key (`GROUP`), each key's in order of the match."""
        address = [HASH, *dict.fromkeys(self.keys)]
        groups = rows.select(address).unique(maintain_order=True).with_row_index(GROUP)
        grouped = rows.join(groups, on=address, how="left", nulls_equal=True, maintain_order="left")
        fields = self.spec.order_by.fields[1:]
        return grouped.with_columns(self._time.alias(TIME)).sort(
            [GROUP, self.time, *(self.names[each.index] for each in fields), ARRIVAL],
            descending=[False, False, *(not each.is_ascending for each in fields), False],
            nulls_last=[False, False, *(each.null_is_last for each in fields), False],
        )

    def _given(self, rows: pl.DataFrame, matches: list[Run]) -> pl.DataFrame:
        """A row a match, in this order."""
        begins = [each[0] for each in matches]
        columns = {at: rows[key].gather(begins) for at, key in enumerate(self.keys)}
        aggregates: dict[str, dict[int, AggregateCall]] = {}
        for at, each in enumerate(self.spec.measures, len(self.keys)):
            if each.is_aggregate:
                aggregates.setdefault(each.variable, {})[at] = each.call(f"m{at}")
            else:
                place = place_of(self.spec, each)
                picked = pl.Series([place(run) for run in matches], dtype=pl.UInt32())
                columns[at] = rows[self.names[each.arg_list[0]]].gather(picked)
        for variable, calls in aggregates.items():
            values = self._aggregated(rows, matches, variable, tuple(calls.values()))
            columns |= dict(zip(calls, values, strict=True))
        named = [columns[at].alias(column.name) for at, column in enumerate(self.output)]
        order = pl.int_range(len(matches), dtype=pl.Int64, eager=True).alias(SEQUENCE)
        return pl.DataFrame([*named, order]).with_columns(inserted())

    def _aggregated(
        self, rows: pl.DataFrame, matches: list[Run], variable: str, calls: tuple[AggregateCall, ...]
    ) -> Iterator[pl.Series]:
        """The values of aggregates over the rows of a variable, for each match."""
        bounds = [rows_of(self.spec, variable)(each) for each in matches]
        taken = rows[[row for begin, end in bounds for row in range(begin, end)]]
        numbers = [number for number, (begin, end) in enumerate(bounds) for _ in range(begin, end)]
        aggregation = Aggregation(
            self.inputs[0], (), calls, False, "matches", further_keys=(Column(_MATCH, BIGINT.not_null()),)
        )
        order = pl.int_range(pl.len(), dtype=pl.Int64).alias(SEQUENCE)
        held = taken.with_columns(pl.Series(_MATCH, numbers, pl.Int64()), order, inserted())
        delta = aggregation.delta(aggregation.prepare(held), Nothing(aggregation.states))
        merged = aggregation.merge(delta, pl.DataFrame(schema=aggregation.states[0].schema))
        values = zip(calls, aggregation.results(frame.new), strict=True)
        results = merged.select(_MATCH, *(value.alias(call.name) for call, value in values))
        every = pl.DataFrame({_MATCH: range(len(matches))}, schema={_MATCH: pl.Int64()})
        found = every.join(results, on=_MATCH, how="left", maintain_order="left")
        for call in calls:
            # COUNT knows of no rows, too.
            yield found[call.name] if call.type.nullable else found[call.name].fill_null(0)
