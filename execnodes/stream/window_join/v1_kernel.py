"""Kernel of stream-exec-window-join_1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from execnodes.core.join_spec import JoinSpec
from execnodes.core.windowing import Windowing
from execnodes.kernels.polars_predicates import compile as compile_predicate
from execnodes.lowering.stream import HASH
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, StateSpec, inserted
from execnodes.stream.window_aggregate.v1_windows import Windows

LATE = "lateRowsDropped"
_EVER = 2**62


@dataclass(frozen=True)
class _Side:
    """One input: its columns are called ``l0, l1 …`` or ``r0, r1 …`` inside the kernel."""

    mark: str
    state: str
    columns: tuple[Column, ...]
    keys: tuple[int, ...]
    bounds: tuple[int, int]
    """Columns with the start and the end of a row's window."""
    windows: Windows

    @property
    def names(self) -> list[str]:
        return [f"{self.mark}{at}" for at in range(len(self.columns))]

    @property
    def number(self) -> str:
        """Column that numbers the rows."""
        return f"{self.mark}_row"

    @property
    def nulls(self) -> list[pl.Expr]:
        """Its columns where no row of it meets one of the other side."""
        return [pl.lit(None, each.dtype).alias(name) for name, each in zip(self.names, self.columns, strict=True)]

    def number_rows(self, rows: pl.DataFrame) -> pl.DataFrame:
        """State rows with kernel names and their numbers."""
        names = {each.name: name for each, name in zip(self.columns, self.names, strict=True)}
        return rows.rename(names).with_row_index(self.number)


class WindowJoinOperator(Operator):
    """Joins the rows of each window when the watermark has passed it.

    State: the rows of each side, bucketed by the epoch millisecond that follows the watermark their window fires at.
    The watermark is the least of both sides', which no row knows: a row is late by that of its micro-batch.
    """

    uses_time = True

    def __init__(
        self,
        uid: str,
        spec: JoinSpec,
        inputs: tuple[tuple[Column, ...], tuple[Column, ...]],
        output: tuple[Column, ...],
        *,
        states: tuple[str, str],
        windowing: tuple[Windowing, Windowing],
        zone: str,
    ) -> None:
        """`states`: names, by side; `zone`: of local time."""
        self.uid = uid
        self.spec = spec
        self.inputs = inputs
        self.output = output
        self.sides = tuple(
            _Side(mark, state, columns, keys, _bounds(windows), Windows(windows, zone))
            for mark, state, columns, keys, windows in zip(
                "lr", states, inputs, (spec.left_keys, spec.right_keys), windowing, strict=True
            )
        )
        self.states = tuple(
            StateSpec(
                side.state,
                side.columns,
                bucketed=True,
                key=tuple(side.columns[each].name for each in side.keys),
                since="2.3",
            )
            for side in self.sides
        )

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Keep the rows of windows that have not ended."""
        for side, batch in zip(self.sides, batches, strict=True):
            rows = self._in_time(side, batch, context)
            if not rows.is_empty():
                context.state(side.state).append(rows.select(BUCKET, HASH, *(each.name for each in side.columns)))
        self._wake(context)
        return None

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Join, and forget, the rows of windows that have ended."""
        if context.watermark is None:
            return None
        until = _EVER if context.watermark >= DRAINED else context.watermark + 1
        left, right = (side.number_rows(context.state(side.state).expire(until)) for side in self.sides)
        self._wake(context)
        return None if left.is_empty() and right.is_empty() else self._join(left, right)

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Windows are waited for again."""
        super().restore(name, rows, context)
        self._wake(context)

    def _wake(self, context: Context) -> None:
        ahead = [buckets[0] for side in self.sides if (buckets := context.state(side.state).buckets())]
        if ahead:
            context.wake_at(min(*ahead, DRAINED) - 1)

    def _in_time(self, side: _Side, rows: pl.DataFrame, context: Context) -> pl.DataFrame:
        """Rows with the BUCKET of their window; those of windows that the watermark had passed are counted."""
        end = side.columns[side.bounds[1]].name
        bucketed = rows.with_columns((side.windows.firing(pl.col(end)) + 1).alias(BUCKET))
        if context.watermark is None:
            return bucketed
        kept = bucketed.filter(pl.col(BUCKET) > context.watermark + 1)
        if kept.height < rows.height:
            context.count(LATE, rows.height - kept.height)
        return kept

    def _join(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        (mine, its), spec = self.sides, self.spec
        pairs = left.join(right, on=[BUCKET, HASH]).filter(*self._conditions)
        if not spec.pairs:
            met = left[mine.number].is_in(pairs[mine.number].unique().implode())
            return self._result([left.filter(met if spec.join_type == "SEMI" else ~met)], mine.names)
        found = [pairs]
        if spec.keeps_left:
            found.append(left.join(pairs, on=mine.number, how="anti").with_columns(*its.nulls))
        if spec.keeps_right:
            found.append(right.join(pairs, on=its.number, how="anti").with_columns(*mine.nulls))
        return self._result(found, [*mine.names, *its.names])

    @property
    def _conditions(self) -> list[pl.Expr]:
        """That the windows and the keys of two rows with one address are equal, and the rest of the condition."""
        (left, right), spec = self.sides, self.spec
        pairs = [(mine, its, True) for mine, its in zip(left.bounds, right.bounds, strict=True)]
        pairs += zip(spec.left_keys, spec.right_keys, spec.filter_nulls, strict=True)
        found = []
        for a, b, strict in pairs:
            mine, its = pl.col(left.names[a]), pl.col(right.names[b])
            found.append(mine == its if strict else mine.eq_missing(its))
        if spec.non_equi_condition is not None:
            found.append(compile_predicate(spec.non_equi_condition, [*left.names, *right.names]))
        return found

    def _result(self, found: list[pl.DataFrame], names: list[str]) -> pl.DataFrame:
        """Windows in the order in which they end, in each the rows of a key as they came."""
        rows = pl.concat(found, how="diagonal")
        order = [BUCKET, HASH, *(side.number for side in self.sides if side.number in rows.columns)]
        named = zip(names, (each.name for each in self.output), strict=True)
        return rows.sort(order, nulls_last=True).select(*(pl.col(ours).alias(its) for ours, its in named), inserted())


def _bounds(windowing: Windowing) -> tuple[int, int]:
    start, end = windowing.window_start, windowing.window_end
    assert start is not None
    assert end is not None
    return start, end
