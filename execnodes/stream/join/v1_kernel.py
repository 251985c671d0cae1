"""Kernel of stream-exec-join_1: what a micro-batch of both sides does to the rows of their join.

With multiplicities l of left rows and r of right rows, a pair occurs l * r times. So the change of a pair is
new l * new r - old l * old r, which is asked only of pairs with a row of the batch in them. Rows that must also appear
without a match carry the number of their matches in state.
"""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.join_spec import JoinSpec
from execnodes.kernels.polars_predicates import compile as compile_predicate
from execnodes.lowering.stream import HASH, KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import Context, Operator, State, StateSpec, empty_output
from execnodes.stream.join.v1_sides import (
    COUNT,
    DELTA,
    MATCHES,
    NEW_MATCHES,
    REMOVALS,
    Batch,
    Side,
    count_matches,
    hashes,
    load,
    retracts,
    signed,
    store,
)

_KEEPS_LEFT = ("LEFT", "FULL", "SEMI", "ANTI")
_KEEPS_RIGHT = ("RIGHT", "FULL")


class JoinOperator(Operator):
    """A regular join of two changelogs."""

    def __init__(
        self,
        uid: str,
        spec: JoinSpec,
        inputs: tuple[tuple[Column, ...], tuple[Column, ...]],
        output: tuple[Column, ...],
        *,
        ttl_ms: tuple[int, int] = (0, 0),
        upsert_keys: tuple[tuple[int, ...] | None, tuple[int, ...] | None] = (None, None),
        emits_update_before: bool = True,
    ) -> None:
        """`upsert_keys`: by side, set if updates arrive without -U; such a key must lie within the join key."""
        self.uid = uid
        self.spec = spec
        self.inputs = inputs
        self.output = output
        self.joins = spec.join_type not in ("SEMI", "ANTI")
        self.ordered = upsert_keys != (None, None)
        self.emits_update_before = emits_update_before
        self.left = Side("l", "leftState", inputs[0], spec.left_keys, spec.join_type in _KEEPS_LEFT, upsert_keys[0])
        self.right = Side("r", "rightState", inputs[1], spec.right_keys, spec.join_type in _KEEPS_RIGHT, upsert_keys[1])
        self.states = tuple(
            StateSpec(side.state, side.spec, ttl, key=tuple(side.columns[key].name for key in side.keys))
            for side, ttl in zip((self.left, self.right), ttl_ms, strict=True)
        )

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Join the changes of both sides with each other and with what is in state."""
        found: list[pl.DataFrame] = []
        frames = []
        for side, batch in zip((self.left, self.right), batches, strict=True):
            frame, lonely = self._split_null_keys(side, side.inward(batch))
            frames.append(frame)
            if side.kept and self.spec.join_type != "SEMI":
                found.append(self._alone(side, signed(lonely, side), pl.col(DELTA)))
        left, right = frames
        states = context.state(self.left.state), context.state(self.right.state)
        if self.spec.join_type == "INNER" and not self.ordered and not (retracts(left) or retracts(right)):
            found += self._grow(left, right, states)
        else:
            found += self._change(left, right, states)
        return self._result(found)

    def _split_null_keys(self, side: Side, frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """Rows that may match something, and rows that cannot because a key is NULL; those need no state."""
        strict = [side.names[key] for key, strict in zip(side.keys, self.spec.filter_nulls, strict=True) if strict]
        if not strict or side.upsert_key is not None or not any(frame[name].null_count() for name in strict):
            return frame, frame.clear()
        never = pl.any_horizontal(pl.col(name).is_null() for name in strict)
        return frame.filter(~never), frame.filter(never)

    def _grow(self, left: pl.DataFrame, right: pl.DataFrame, states: tuple[State, State]) -> list[pl.DataFrame]:
        """Inner join of rows that are only added: state is appended to, and read where the other side's keys lie."""
        found = []
        for mine, side, other, state in (
            (left, self.left, self.right, states[1]),
            (right, self.right, self.left, states[0]),
        ):
            if not mine.is_empty():
                stored = other.inward(state.read(hashes(mine)))
                pairs = self._match(mine, stored) if side is self.left else self._match(stored, mine)
                found.append(pairs.select(*self._names, pl.col(COUNT).alias(DELTA), KIND, SEQUENCE))
        both = self._match(left, right.rename({KIND: "r_kind", SEQUENCE: "r_seq"}))
        found.append(
            both.select(
                *self._names,
                pl.lit(1, pl.Int64).alias(DELTA),
                pl.max_horizontal(KIND, "r_kind"),
                pl.max_horizontal(SEQUENCE, "r_seq"),
            )
        )
        for mine, side, state in ((left, self.left, states[0]), (right, self.right, states[1])):
            if not mine.is_empty():
                state.append(side.outward(mine.with_columns(pl.lit(1, pl.Int64).alias(COUNT))))
        return found

    def _change(self, left: pl.DataFrame, right: pl.DataFrame, states: tuple[State, State]) -> list[pl.DataFrame]:
        """Any join of any changes."""
        ls = load(self.left, left, right, states[0])
        rs = load(self.right, right, left, states[1])
        # The three ways a pair can hold a changed row.
        new_old = self._match(ls.changed, rs.rest)
        old_new = self._match(ls.rest, rs.changed)
        new_new = self._match(ls.changed, rs.changed)
        found = []
        if self.joins:
            found = [
                self._pairs(new_old, ("l",), pl.col(COUNT), pl.col(COUNT)),
                self._pairs(old_new, ("r",), pl.col(COUNT), pl.col(COUNT)),
                self._pairs(new_new, ("l", "r"), pl.lit(1, pl.Int64), pl.lit(1, pl.Int64)),
            ]
        for side, batch, theirs, touched in (
            (self.left, ls, "r", (new_old, old_new)),
            (self.right, rs, "l", (old_new, new_old)),
        ):
            counted = count_matches(side, batch, theirs, (touched[0], new_new), touched[1]) if side.kept else batch
            if side.kept:
                found += self._unmatched(side, counted)
            store(side, counted, states[0] if side is self.left else states[1])
        return found

    def _match(self, left: pl.DataFrame, right: pl.DataFrame) -> pl.DataFrame:
        """Pairs that satisfy the condition, with all columns of both frames but the right HASH."""
        # COUNT stands for the stored side; the other frame of a pair never has it, nor MATCHES.
        pairs = left.join(right, on=HASH, how="inner")
        checks = [
            pl.col(self.left.names[a]) == pl.col(self.right.names[b])
            if strict
            else pl.col(self.left.names[a]).eq_missing(pl.col(self.right.names[b]))
            for a, b, strict in zip(self.spec.left_keys, self.spec.right_keys, self.spec.filter_nulls, strict=True)
        ]
        if self.spec.non_equi_condition is not None:
            checks.append(compile_predicate(self.spec.non_equi_condition, self._names))
        if not checks:
            return pairs
        holds = pairs.select(pl.all_horizontal(checks).fill_null(False)).to_series()
        # Hashes hardly ever collide: most batches need no copy.
        return pairs if holds.all() else pairs.filter(holds)

    def _pairs(
        self, pairs: pl.DataFrame, changed: tuple[str, ...], old_factor: pl.Expr, new_factor: pl.Expr
    ) -> pl.DataFrame:
        """Changes of joined rows; `changed` marks the sides whose multiplicity changes."""
        old, new = old_factor, new_factor
        for mark in changed:
            old, new = old * pl.col(f"{mark}_old"), new * pl.col(f"{mark}_new")
        counted = pairs.with_columns((new - old).alias(DELTA))
        return counted.select(*self._names, DELTA, *_cause(changed))

    def _unmatched(self, side: Side, batch: Batch) -> list[pl.DataFrame]:
        """Changes of rows that depend on whether anything matches them."""
        semi = self.spec.join_type == "SEMI"
        goes, comes = ("lost_first", "gained_last") if semi else ("gained_first", "lost_last")
        shown, was = ((pl.col(name) > 0) == semi for name in (NEW_MATCHES, MATCHES))
        own = pl.when(shown).then(side.name("new")).otherwise(0) - pl.when(was).then(side.name("old")).otherwise(0)
        flip = pl.col(COUNT) * (shown.cast(pl.Int64) - was.cast(pl.Int64))
        rest = batch.rest.filter(pl.col(NEW_MATCHES) != pl.col(MATCHES)).with_columns(flip.alias(DELTA))
        removed = pl.col(DELTA) < 0
        rest = rest.with_columns(
            pl.when(removed).then(int(RowKind.DELETE)).otherwise(int(RowKind.INSERT)).cast(pl.Int8).alias(KIND),
            pl.when(removed).then(goes).otherwise(comes).alias(SEQUENCE),
        )
        ours = side.name("seq")
        mine = batch.changed.rename({side.name("kind"): KIND}).with_columns(
            pl.when(own < 0)
            .then(pl.min_horizontal(ours, goes))
            .otherwise(pl.max_horizontal(ours, comes))
            .alias(SEQUENCE)
        )
        return [self._alone(side, mine, own), self._alone(side, rest, pl.col(DELTA))]

    def _alone(self, side: Side, frame: pl.DataFrame, delta: pl.Expr) -> pl.DataFrame:
        """Result rows of one side: the other side's columns are NULL."""
        other = self.right if side is self.left else self.left
        padding = [
            pl.lit(None, column.dtype).alias(name) for name, column in zip(other.names, other.columns, strict=True)
        ]
        columns = [*side.names, *padding] if self.joins else side.names
        kind = pl.col(KIND)
        # A match that comes or goes changes the kind the row arrived with.
        fits = kind.is_in(REMOVALS) == (delta < 0)
        other_kind = pl.when(delta < 0).then(int(RowKind.DELETE)).otherwise(int(RowKind.INSERT)).cast(pl.Int8)
        return frame.select(
            *columns, delta.alias(DELTA), pl.when(fits).then(kind).otherwise(other_kind).alias(KIND), SEQUENCE
        ).select(*self._result_names, DELTA, KIND, SEQUENCE)

    @property
    def _names(self) -> list[str]:
        return [*self.left.names, *self.right.names]

    @property
    def _result_names(self) -> list[str]:
        return self._names if self.joins else self.left.names

    def _result(self, found: list[pl.DataFrame]) -> pl.DataFrame:
        """Removals first, each row as often as it changes."""
        parts = [each for each in found if not each.is_empty()]
        if not parts:
            return empty_output(self)
        rows = pl.concat(parts)
        if (rows[DELTA] != 1).any():
            rows = pl.concat([rows.filter(pl.col(DELTA) < 0), rows.filter(pl.col(DELTA) > 0)])
            if not self.emits_update_before:
                rows = self._without_update_before(rows)
            times = rows[DELTA].abs()
            if (times > 1).any():
                index = pl.int_range(rows.height, eager=True)
                repeated = pl.DataFrame({"at": index, "n": times}).select(pl.col("at").repeat_by("n")).explode("at")
                rows = rows[repeated["at"]]
        named = zip(self._result_names, (column.name for column in self.output), strict=True)
        return rows.select(*(pl.col(ours).alias(theirs) for ours, theirs in named), KIND, SEQUENCE)

    def _without_update_before(self, rows: pl.DataFrame) -> pl.DataFrame:
        """A -U whose key comes again goes without saying; any other must be told as -D."""
        key: list[str] = []
        for side in (self.left, self.right) if self.joins else (self.left,):
            key += side.names if side.upsert_key is None else [side.names[i] for i in side.upsert_key]
        before = pl.col(KIND) == int(RowKind.UPDATE_BEFORE)
        gone = rows.filter(before)
        if key:
            gone = gone.join(rows.filter(pl.col(DELTA) > 0), on=key, how="anti", nulls_equal=True)
        told = gone.with_columns(pl.lit(int(RowKind.DELETE), pl.Int8).alias(KIND))
        return pl.concat([told, rows.filter(~before)])


def _cause(changed: tuple[str, ...]) -> list[pl.Expr]:
    """Kind and order of a changed pair: it goes with the first row it loses and comes with the last it gains."""
    removed = pl.col(DELTA) < 0

    def of(mark: str, what: str, gains: bool) -> pl.Expr:
        old, new = pl.col(f"{mark}_old"), pl.col(f"{mark}_new")
        return pl.when(new > old if gains else new < old).then(f"{mark}_{what}")

    def pick(what: str) -> pl.Expr:
        lost = [of(mark, what, gains=False) for mark in changed]
        first = pl.min_horizontal(lost) if what == "seq" else pl.max_horizontal(lost)
        last = pl.max_horizontal([of(mark, what, gains=True) for mark in changed])
        return pl.when(removed).then(first).otherwise(last)

    return [pick("kind").alias(KIND), pick("seq").alias(SEQUENCE)]
