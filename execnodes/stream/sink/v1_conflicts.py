"""Kernel of stream-exec-sink_1 with ON CONFLICT DO NOTHING or DO ERROR: changes wait for the watermark, then settle.

Changes that arrived under one watermark are taken together: opposite ones cancel, and what is left of a sink key, on
top of its present row, should be one row. With more than one, DO NOTHING keeps the present row (or takes the first)
and forgets the others for good; DO ERROR fails the job.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import groupby

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.errors import JobError
from execnodes.core.types import BIGINT
from execnodes.lowering.stream import HASH, KIND, SEQUENCE, WATERMARK
from execnodes.state.kernel_types import Column
from execnodes.state.operator import BUCKET, DRAINED, Context, Operator, StateSpec

STATE = "sinkMaterializeState"
PENDING = "sinkPendingState"
EPOCH = "rk_epoch"
"""Watermark under which a change arrived, epoch ms."""
POSITION = "rk_position"
PENDING_KIND = "rk_pending_kind"
_BEFORE_TIME = 0
"""Epoch of changes that arrived before the first watermark."""
_REMOVALS = (int(RowKind.UPDATE_BEFORE), int(RowKind.DELETE))

Values = tuple[object, ...]
Change = tuple[int, int, int, Values]
"""Epoch, position, kind, row."""


class ConflictResolver(Operator):
    """State is the present row of each sink key, and beside it the changes that wait, all in one bucket."""

    ordered = True
    uses_time = True

    def __init__(
        self,
        uid: str,
        columns: tuple[Column, ...],
        primary_key: tuple[int, ...],
        upsert_key: tuple[int, ...] | None,
        fails: bool,
        ttl_ms: int = 0,
    ) -> None:
        """`upsert_key`: columns that tell rows apart, None for all; `fails`: True for DO ERROR."""
        self.uid = uid
        self.inputs = (columns,)
        self.output = columns
        self.names = [each.name for each in columns]
        self.key = primary_key
        self.told_apart = upsert_key if upsert_key is not None else tuple(range(len(columns)))
        self.fails = fails
        waiting = tuple(Column(name, BIGINT) for name in (EPOCH, POSITION, PENDING_KIND))
        hashed = tuple(self.names[index] for index in primary_key)
        self.states = (
            StateSpec(STATE, columns, ttl_ms, key=hashed),
            StateSpec(PENDING, (*columns, *waiting), bucketed=True, key=hashed),
        )

    def process(self, batches: Sequence[pl.DataFrame], context: Context) -> pl.DataFrame | None:
        """Changes only queue up; ask to be woken when the watermark moves on."""
        batch = batches[0].sort(SEQUENCE, maintain_order=True)
        if batch.is_empty():
            return None
        now = context.watermark if context.watermark is not None else _BEFORE_TIME
        epoch = pl.lit(now, pl.Int64)
        if WATERMARK in batch.columns:
            epoch = pl.max_horizontal(pl.col(WATERMARK), epoch)
        waiting = context.state(PENDING)
        held = waiting.expire(0)
        first = int(str(held[POSITION].max())) + 1 if held.height else 0
        added = batch.with_columns(
            pl.lit(0, pl.Int64).alias(BUCKET),
            epoch.alias(EPOCH),
            pl.int_range(first, first + pl.len(), dtype=pl.Int64).alias(POSITION),
            pl.col(KIND).cast(pl.Int64).alias(PENDING_KIND),
        )
        self._wait(pl.concat([held, added.select(held.columns)]), context)
        return None

    def on_watermark(self, context: Context) -> pl.DataFrame | None:
        """Settle all changes that arrived under an earlier watermark; at the end of the input all there are."""
        watermark = context.watermark
        if watermark is None:
            return None
        queued = context.state(PENDING).expire(0)
        ready = pl.lit(True) if watermark >= DRAINED else pl.col(EPOCH) < watermark
        self._wait(queued.filter(~ready), context)
        due = queued.filter(ready).sort(EPOCH, POSITION)
        if due.is_empty():
            return None
        return self._settle(due, context)

    def restore(self, name: str, rows: pl.DataFrame, context: Context) -> None:
        """Changes that wait are waited for again."""
        if name == PENDING:
            self._wait(rows, context)
        else:
            super().restore(name, rows, context)

    def _wait(self, rows: pl.DataFrame, context: Context) -> None:
        if rows.is_empty():
            return
        context.state(PENDING).append(rows)
        context.wake_at(min(int(str(rows[EPOCH].min())) + 1, DRAINED - 1))

    def _settle(self, due: pl.DataFrame, context: Context) -> pl.DataFrame:
        state = context.state(STATE)
        stored = state.read(due.select(pl.col(HASH).unique()))
        present = {self._key_of(row): row for row in stored.select(self.names).iter_rows()}
        hashes: dict[Values, int] = {}
        changes: dict[Values, list[Change]] = defaultdict(list)
        for *values, hash_, epoch, position, kind in due.select(
            *self.names, HASH, EPOCH, POSITION, PENDING_KIND
        ).iter_rows():
            row = tuple(values)
            hashes[self._key_of(row)] = hash_
            changes[self._key_of(row)].append((epoch, position, kind, row))
        found: list[Values] = []
        settled: list[Values] = []
        for key, waiting in changes.items():
            old = present.get(key)
            new = self._last_row(key, old, waiting)
            if new is not None:
                settled.append((*new, hashes[key]))
            found += _change(old, new, waiting[-1][1])
        touched = pl.DataFrame({HASH: list(hashes.values())}, schema={HASH: pl.Int64()})
        near = stored.join(touched, on=HASH, how="semi")
        kept = [
            (*row, hash_)
            for *values, hash_ in near.select(*self.names, HASH).iter_rows()
            if self._key_of(row := tuple(values)) not in changes
        ]
        schema = {name: stored.schema[name] for name in (*self.names, HASH)}
        rows = pl.DataFrame([*kept, *settled], schema=schema, orient="row").select(stored.columns)
        state.write(pl.concat([stored.join(touched, on=HASH, how="anti"), rows]))
        out = {name: stored.schema[name] for name in self.names}
        return pl.DataFrame(found, schema={**out, KIND: pl.Int8(), SEQUENCE: pl.Int64()}, orient="row").sort(SEQUENCE)

    def _last_row(self, key: Values, old: Values | None, waiting: list[Change]) -> Values | None:
        """The row of a key after all its changes, settled watermark by watermark."""
        present = old
        for _, together in groupby(waiting, key=lambda change: change[0]):
            rows = self._applied(present, _compacted(list(together)))
            if len(rows) > 1 and self.fails:
                names = ", ".join(f"{self.names[i]} = {value}" for i, value in zip(self.key, key, strict=True))
                raise JobError(
                    f"several rows of the query meet in the sink key {names}",
                    where=self.uid,
                    hint="Use ON CONFLICT DO NOTHING to keep the first of them, or DO DEDUPLICATE for the last.",
                )
            if not rows:
                present = None
            elif len(rows) == 1 or present is None:
                present = rows[0]
        return present

    def _applied(self, present: Values | None, changes: list[Change]) -> list[Values]:
        rows = [present] if present is not None else []
        for _, _, kind, row in changes:
            at = next((i for i, other in enumerate(rows) if self._identity(other) == self._identity(row)), None)
            if kind in _REMOVALS:
                if at is not None:
                    del rows[at]
            elif at is None:
                rows.append(row)
            else:
                rows[at] = row
        return rows

    def _key_of(self, row: Values) -> Values:
        return tuple(row[i] for i in self.key)

    def _identity(self, row: Values) -> Values:
        return tuple(row[i] for i in self.told_apart)


def _compacted(changes: list[Change]) -> list[Change]:
    """Changes of one watermark, less those that undo each other, whichever came first."""
    left: list[Change] = []
    for change in changes:
        removal = change[2] in _REMOVALS
        opposite = (i for i, other in enumerate(left) if (other[2] in _REMOVALS) != removal and other[3] == change[3])
        at = next(opposite, None)
        if at is None:
            left.append(change)
        else:
            del left[at]
    return left


def _change(old: Values | None, new: Values | None, position: int) -> list[Values]:
    if old == new:
        return []
    if new is None:
        return [(*(old or ()), int(RowKind.DELETE), position)]
    kind = RowKind.INSERT if old is None else RowKind.UPDATE_AFTER
    return [(*new, int(kind), position)]
