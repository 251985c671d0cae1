"""Functions over frames: the result for each row that is new, and the accumulators that go on from there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import polars as pl

from execnodes.aggregates import WINDOW_FUNCTIONS
from execnodes.core.expressions import AggregateCall, Literal
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.accumulator import Accumulator, Source
from execnodes.kernels.aggregates.make import Feed, by_transitions, feed, make
from execnodes.kernels.aggregates.sliding import merge, slide
from execnodes.kernels.aggregates.user import UserCall, state_columns
from execnodes.kernels.aggregates.user_frames import UserFrames
from execnodes.kernels.polars_predicates import compile
from execnodes.kernels.unsigned_zeros import drop_zero_signs
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.stream.over_aggregate.v1_frames import BEGIN, END, FIRST, GROUP, NEW, PLACE, Frame

_PAIRS = 2_000_000
"""Rows of frames that are looked at together where a function needs all rows of its frame."""
_OF, _COUNT = "rk_of", "rk_count"


@dataclass(frozen=True)
class Lag:
    """LAG: the value so many rows before the last one of the frame."""

    call: AggregateCall
    offset: int
    default: Literal | None


@dataclass(frozen=True)
class OverFunctions:
    """The calls of one window."""

    input: tuple[Column, ...]
    calls: tuple[AggregateCall, ...]
    constants: tuple[Literal, ...]
    """Follow the input's columns."""
    frame: Frame

    @cached_property
    def lags(self) -> tuple[Lag, ...]:
        """Calls of LAG."""
        return tuple(self._lag(call) for call in self.calls if call.internal_name == "$LAG$1")

    @cached_property
    def accumulators(self) -> tuple[Accumulator, ...]:
        """Those of all other calls; ranks count rows (in streams RANK does not tell ties from others, as in Flink)."""
        others = (call for call in self.calls if call.internal_name != "$LAG$1" and not call.user_name)
        return tuple(self._accumulator(call) for call in others)

    @cached_property
    def users(self) -> tuple[AggregateCall, ...]:
        """Calls of functions of the user."""
        return tuple(call for call in self.calls if call.user_name)

    @cached_property
    def totals(self) -> tuple[Column, ...]:
        """Accumulators that go on from row to row, over frames that only grow."""
        own = (column for each in self.running for column in each.columns)
        return (*own, *(column for call in self.users for column in state_columns(call)))

    @cached_property
    def gathered(self) -> tuple[Accumulator, ...]:
        """Those that need all rows of a frame at once."""
        return tuple(each for each in self.accumulators if self._gathers(each))

    @cached_property
    def running(self) -> tuple[Accumulator, ...]:
        """Those that are merged from parts of a frame."""
        return tuple(each for each in self.accumulators if not self._gathers(each))

    @cached_property
    def distinct(self) -> tuple[int, ...]:
        """Arguments of which functions that go on from row to row see each value once."""
        calls = [each.call for each in self.running if by_transitions(each)]
        if self.frame.preceding is None:
            calls += (call for call in self.users if call.distinct)
        return tuple(dict.fromkeys(call.arg_list[0] for call in calls))

    @property
    def kept(self) -> int | None:
        """How many rows of a key the next one needs; None: all that frames can reach."""
        if self.gathered and self.frame.preceding is None:
            return None
        if self.frame.preceding is None:
            return max((each.offset for each in self.lags), default=0)
        # At least one: it tells how far the key has come.
        return max(self.frame.preceding, 1) if self.frame.rows else None

    @cached_property
    def kept_arguments(self) -> tuple[int, ...]:
        """Input columns that are needed of rows which have their results."""
        kept = self.accumulators if self.frame.preceding is not None else self.gathered
        calls = [*(each.call for each in kept), *(each.call for each in self.lags)]
        calls += self.users if self.frame.preceding is not None else ()
        return tuple(sorted({at for call in calls for at in call.arg_list if at < len(self.input)}))

    @cached_property
    def arguments(self) -> tuple[int, ...]:
        """Input columns that are read."""
        return tuple(sorted({at for call in self.calls for at in call.arg_list if at < len(self.input)}))

    def evaluate(
        self,
        laid: pl.DataFrame,
        keys: Sequence[str],
        totals: pl.DataFrame | None,
        known: dict[int, pl.DataFrame],
        users: Iterable[UserCall] = (),
    ) -> tuple[pl.DataFrame, pl.DataFrame]:
        """New rows with a column for each call, and with accumulators after their frames (`frame.delta`).

        `totals`: accumulators of keys before these rows; `known`: values of arguments that keys have had; `users`: the
        functions of the user. Their accumulators stand in the last row of a key.
        """
        for at in self.distinct:
            laid = laid.with_columns(_once(self.compared(laid, (at,)), keys, at, known.get(at)))
        made = self._running(laid, keys, totals).filter(laid[NEW])
        new = laid.filter(NEW)
        results = {each.call.name: each.result(lambda name: pl.col(frame.delta(name))) for each in self.running}
        columns = made.select(e.alias(name) for name, e in results.items()).get_columns()
        columns += [self._lagged(laid, each).filter(laid[NEW]) for each in self.lags]
        columns += self._gather(laid) if self.gathered else []
        for user in users:
            frames = self._user(user, laid, keys, totals)
            columns.append(
                pl.Series(user.call.name, frames.results, dtype=Column(user.call.name, user.call.type).dtype)
            )
            made = made.hstack(frames.accumulators()) if totals is not None else made
        typed = (pl.col(call.name).cast(Column(call.name, call.type).dtype) for call in self.calls)
        return new.with_columns(columns).with_columns(typed), made

    def _running(self, laid: pl.DataFrame, keys: Sequence[str], totals: pl.DataFrame | None) -> pl.DataFrame:
        if not self.running:
            return laid.select(PLACE)
        pairs = [(each, self._source(each, marked=True)) for each in self.running]
        made = slide(laid, pairs, self._first(laid), laid[END])
        if totals is None:
            return made
        before = frame.left_join(laid.select(HASH, *keys), totals, [HASH, *keys])
        named = before.select(pl.col(name).alias(frame.delta(name)) for each in self.running for name in _names(each))
        return merge(named, made, pairs)

    def _first(self, laid: pl.DataFrame) -> pl.Series:
        """Where the rows begin that are in a frame and in no totals."""
        if self.frame.preceding is not None:
            return laid[BEGIN]
        return laid.select(pl.col(PLACE).filter(NEW).min().over(GROUP).fill_null(pl.col(PLACE)))[PLACE]

    def _user(self, user: UserCall, laid: pl.DataFrame, keys: Sequence[str], totals: pl.DataFrame | None) -> UserFrames:
        call = user.call
        once_only = call.distinct and self.frame.preceding is None
        frames = UserFrames(user, laid, pl.col(once(call.arg_list[0])) if once_only else None)
        wanted = laid.select(_first=self._first(laid), _last=END).filter(laid[NEW]).rows()
        before = None
        if totals is not None:
            names = [column.name for column in state_columns(call)]
            begins = laid.with_columns(self._first(laid).alias(_OF)).filter(NEW).unique(GROUP)
            met = begins.select(_OF, HASH, *keys).join(
                totals.select(HASH, *keys, *names), on=[HASH, *keys], how="inner", nulls_equal=True
            )
            before = {place: accumulator for place, *accumulator in met.select(_OF, *names).iter_rows()}
        frames.slide(wanted, before)
        return frames

    def _lagged(self, laid: pl.DataFrame, lag: Lag) -> pl.Series:
        call = lag.call
        value = laid[frame.arg(call.arg_list[0])]
        place = laid[END] - lag.offset
        there = place >= laid[FIRST]
        found = pl.select(pl.when(there).then(value.gather(place.clip(0)))).to_series()
        if lag.default is not None:
            default = pl.select(compile(lag.default, ()).cast(value.dtype)).to_series()
            found = found.zip_with(there, default.new_from_index(0, laid.height))
        return found.alias(call.name)

    def _gather(self, laid: pl.DataFrame) -> list[pl.Series]:
        """Results from all rows of each frame, a few frames at a time."""
        targets = laid.filter(NEW).select(PLACE, BEGIN, END)
        ends = (targets[END] - targets[BEGIN] + 1).cum_sum() // _PAIRS
        portions = ends.unique(maintain_order=True).to_list() or [0]
        parts = [self._gather_part(laid, targets.filter(ends == portion)) for portion in portions]
        return pl.concat(parts).get_columns()

    def _gather_part(self, laid: pl.DataFrame, targets: pl.DataFrame) -> pl.DataFrame:
        places = pl.int_ranges(BEGIN, pl.col(END) + 1, dtype=pl.Int64).alias(PLACE)
        pairs = targets.select(pl.col(PLACE).alias(_OF), places).explode(PLACE)
        arguments = [frame.arg(at) for at in self.arguments]
        rows = pairs.hstack(laid.select(arguments)[pairs[PLACE]])
        found = targets.select(pl.col(PLACE).alias(_OF))
        for each in self.gathered:
            read, source = self._members(rows, each)
            folded = read.group_by(_OF, maintain_order=True).agg(
                e.alias(frame.delta(name)) for name, e in each.fold(source).items()
            )
            found = frame.left_join(found, folded, [_OF])
        results = {each.call.name: each.result(lambda name: pl.col(frame.delta(name))) for each in self.gathered}
        return found.select(e.alias(name) for name, e in results.items())

    def _members(self, rows: pl.DataFrame, each: Accumulator) -> tuple[pl.DataFrame, Source]:
        arguments = [frame.arg(at) for at in each.call.arg_list]
        read = rows if each.keeps_nulls else rows.filter(pl.col(arguments[-1]).is_not_null())
        values = tuple(pl.col(name) for name in arguments)
        if feed(each) is Feed.COUNTED or each.call.distinct:
            read = self.compared(read, each.call.arg_list)
        if feed(each) is Feed.COUNTED:
            counted = read.group_by(_OF, *arguments, maintain_order=True).agg(pl.len().cast(pl.Int64).alias(_COUNT))
            return counted, Source(values, None, pl.col(_COUNT))
        if each.call.distinct:
            read = read.unique(subset=[_OF, *arguments], keep="first", maintain_order=True)
        return read, Source(values)

    def _source(self, each: Accumulator, *, marked: bool) -> Source:
        values = tuple(pl.col(frame.arg(at)) for at in each.call.arg_list)
        if not marked or not by_transitions(each):
            return Source(values)
        first = each.call.arg_list[0]
        return Source((drop_zero_signs(self.input[first].type, values[0]), *values[1:]), pl.col(once(first)))

    def compared(self, rows: pl.DataFrame, arguments: Sequence[int]) -> pl.DataFrame:
        """Rows with arguments in the form in which equal values are one."""
        read = (at for at in arguments if at < len(self.input))
        return rows.with_columns(
            drop_zero_signs(self.input[at].type, pl.col(frame.arg(at))).alias(frame.arg(at)) for at in read
        )

    def _gathers(self, each: Accumulator) -> bool:
        if feed(each) is not Feed.ROWS:
            return True
        return by_transitions(each) and self.frame.preceding is not None

    def _accumulator(self, call: AggregateCall) -> Accumulator:
        if call.title in WINDOW_FUNCTIONS:
            call = call.model_copy(update={"internal_name": "$COUNT$1"})
        return make(call, self.input[call.arg_list[0]].type if call.arg_list else None, False)

    def _lag(self, call: AggregateCall) -> Lag:
        width = len(self.input)
        offset, default = (*(self.constants[at - width] for at in call.arg_list[1:]), None, None)[:2]
        return Lag(call, 1 if offset is None else int(str(offset.value)), default)


def once(argument: int) -> str:
    """TRUE where a key has a value of an argument for the first time."""
    return f"rk_once{argument}"


def _names(accumulator: Accumulator) -> list[str]:
    return [column.name for column in accumulator.columns]


def _once(laid: pl.DataFrame, keys: Sequence[str], argument: int, known: pl.DataFrame | None) -> pl.Series:
    value = frame.arg(argument)
    first = laid.select((pl.col(PLACE).filter(NEW).min().over(GROUP, value) == pl.col(PLACE)).fill_null(False))
    marks = first.to_series()
    if known is not None and known.height:
        found = frame.left_join(laid.select(HASH, *keys, value), known.with_columns(pl.lit(True).alias(_OF)),
                                [HASH, *keys, value])  # fmt: skip
        marks = marks & found[_OF].is_null()
    return marks.alias(once(argument))
