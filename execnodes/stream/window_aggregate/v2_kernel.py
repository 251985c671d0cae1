"""Kernel of the window aggregate over sessions, and over windows of columns that were sessions."""

from __future__ import annotations

import polars as pl

from execnodes.aggregates import RECORD_COUNT, all_mergeable
from execnodes.core.expressions import AggregateCall
from execnodes.core.types import BIGINT, LogicalType, timestamp
from execnodes.core.windowing import Windowing
from execnodes.kernels.aggregates import frame
from execnodes.kernels.aggregates.aggregation import KNOWN, Aggregation
from execnodes.kernels.aggregates.frame import SIGN
from execnodes.kernels.aggregates.mixed import MixedAggregation, systems
from execnodes.kernels.aggregates.user import CallsFunctions
from execnodes.kernels.aggregates.whole import Nothing
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, StateSpec, inserted
from execnodes.state.sessions import END, FIRE, PART, START
from execnodes.stream.window_aggregate.v1_kernel import STATE, WindowAggregateOperator
from execnodes.stream.window_aggregate.v1_windows import WINDOW_END, Windows
from execnodes.stream.window_aggregate.v2_sessions import NUMBER, SessionOperator, numbered, state_columns, taken

PREFIX = STATE.removesuffix("State")
ROWS = f"{PREFIX}Rows"
BEGIN = "rk_begin"
"""Start of a window whose bounds are columns."""


class SessionAggregateOperator(CallsFunctions, SessionOperator):
    """Rows of a key group to one row a session and key, once the watermark has passed the session.

    State: the parts of sessions with their accumulators; where a call has no partial results, the columns that the
    calls read, row by row, from which results are made when the session fires.
    """

    def __init__(
        self,
        *,
        uid: str,
        input_type: LogicalType,
        output_type: LogicalType,
        grouping: tuple[int, ...],
        calls: tuple[AggregateCall, ...],
        windowing: Windowing,
        properties: tuple[str, ...],
        zone: str,
        retract: bool = False,
    ) -> None:
        """The node's fields, as of the operator of version 1."""
        SessionOperator.__init__(self, uid, input_type, grouping, windowing, zone, PREFIX)
        CallsFunctions.__init__(self, calls, self.inputs[0])
        self.output = tuple(Column(field.name, field.type) for field in output_type.fields)
        self.properties = properties
        bigint = BIGINT.not_null()
        own = systems(calls)
        part, end = (Column(PART, bigint),), (Column(END, bigint),)
        self.reader = Aggregation(self.inputs[0], grouping, calls, retract, STATE, further_keys=part)
        self.aggregation = Aggregation(self.inputs[0], grouping, own, retract, STATE, further_keys=part)
        self.firing = MixedAggregation(
            self.inputs[0], grouping, own, retract, STATE, further_keys=end, every_call=calls
        )
        self.merges = not self.user_calls and all_mergeable(own, retract)
        self.ordered = self.aggregation.ordered or bool(self.user_calls)
        read = sorted({at for call in calls for at in (*call.arg_list, call.filter_arg) if at >= 0})
        signs = (Column(SIGN, bigint),) if retract else ()
        arguments = (Column(frame.arg(at), self.inputs[0][at].type) for at in read)
        rows = (*self.key_columns, Column(PART, bigint), Column(NUMBER, bigint), *arguments, *signs)
        kept = self.aggregation.columns if self.merges else (Column(NUMBER, bigint),)
        states = self.session_states(kept)
        self.states = states if self.merges else (*states, StateSpec(ROWS, rows, key=self.keys, since="1.3"))

    def keep(self, rows: pl.DataFrame, before: pl.DataFrame, parts: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Add to the accumulators of parts, or keep the rows."""
        group, aggregation = [*self.keys, PART], self.aggregation
        prepared = self.reader.prepare(rows)
        if self.merges:
            known = before.drop(START, END)
            merged = aggregation.merge(aggregation.fold(prepared), known)
            values = [each.name for each in aggregation.columns]
            now = merged.select(*group, *(frame.new(name).alias(name) for name in values))
            others = frame.anti_join(known, now, group).select(*group, *values)
            return frame.left_join(parts, pl.concat([others, now]), group)
        kept, parts = numbered(prepared, before, parts, group)
        if not kept.is_empty():
            context.state(ROWS).append(kept.select(state_columns(self.states[-1])))
        return parts

    def give(self, due: pl.DataFrame, context: Context) -> pl.DataFrame:
        """A row a session."""
        firing, group = self.firing, [*self.keys, PART]
        sessions = due.select(*group, START, END).unique([*self.keys, END], keep="first", maintain_order=True)
        rows = due
        if self.merges:
            # A part may hold fewer rows than were taken back from it: only all parts together tell.
            delta = firing.combine(due.drop(PART, START))
        else:
            rows = taken(context.state(ROWS), self.states[-1], due, group).drop(PART, START, FIRE, NUMBER)
            delta = firing.delta(rows, Nothing(firing.states))
        merged = firing.merge(delta, pl.DataFrame(schema=firing.states[0].schema))
        for call in self.supplied():
            merged = call.step(rows, merged, firing.group, KNOWN)
        if firing.retract:
            merged = merged.filter(frame.new(RECORD_COUNT) > 0)
        found = frame.left_join(sessions.drop(PART), merged, [*self.keys, END]).filter(pl.col(HASH).is_not_null())
        shown = self.shown()
        values = [*map(pl.col, self.keys), *firing.results(frame.new), *(shown[name] for name in self.properties)]
        columns = (value.alias(column.name) for value, column in zip(values, self.output, strict=True))
        return found.select(*columns, inserted())


class _Given(Windows):
    """Windows whose start is a column, since no length tells it."""

    def start(self, end: pl.Expr) -> pl.Expr:
        """The column."""
        return pl.col(BEGIN)


class GivenSessionsOperator(WindowAggregateOperator):
    """Windows are told by two columns: sessions of other keys than those that are grouped by."""

    def __init__(
        self,
        *,
        uid: str,
        input_type: LogicalType,
        output_type: LogicalType,
        grouping: tuple[int, ...],
        calls: tuple[AggregateCall, ...],
        windowing: Windowing,
        properties: tuple[str, ...],
        zone: str,
        retract: bool = False,
    ) -> None:
        """As of the operator of version 1."""
        super().__init__(
            uid=uid, input_type=input_type, output_type=output_type, grouping=grouping, calls=calls,
            windowing=windowing, properties=properties, zone=zone, retract=retract,
        )  # fmt: skip
        bounds = tuple(Column(name, timestamp(3).not_null()) for name in (WINDOW_END, BEGIN))
        self.windows = _Given(windowing, zone)
        self.reader = Aggregation(self.inputs[0], grouping, calls, retract, STATE, bucketed=True, further_keys=bounds)
        self.aggregation = MixedAggregation(
            self.inputs[0], grouping, systems(calls), retract, STATE, bucketed=True, further_keys=bounds,
            every_call=calls,
        )  # fmt: skip
        self.states = self.aggregation.states
        self.begin = self.inputs[0][windowing.window_start or 0].name

    def _bucketed(self, rows: pl.DataFrame) -> pl.DataFrame:
        return super()._bucketed(rows.with_columns(pl.col(self.begin).alias(BEGIN)))
