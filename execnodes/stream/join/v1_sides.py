"""One side of stream-exec-join_1: what a micro-batch changes in its rows, and how that reaches its state."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import polars as pl

from execnodes.core.changelog import RowKind
from execnodes.core.types import BIGINT
from execnodes.lowering.stream import HASH, KIND, SEQUENCE
from execnodes.state.kernel_types import Column
from execnodes.state.operator import State

COUNT = "rk_count"
"""How many times a row is there; equal rows may also stand in several state rows."""
MATCHES = "rk_matches"
"""How many rows of the other side match a row."""
NEW_MATCHES = "rk_new_matches"
DELTA = "rk_delta"
"""How many times a row of the result is added or, negative, removed."""
REMOVALS = (int(RowKind.UPDATE_BEFORE), int(RowKind.DELETE))


@dataclass(frozen=True)
class Side:
    """One input: its columns are called ``l0, l1 …`` or ``r0, r1 …`` inside the kernel."""

    mark: str
    state: str
    columns: tuple[Column, ...]
    keys: tuple[int, ...]
    kept: bool
    """True if its rows are kept track of even when nothing matches them."""
    upsert_key: tuple[int, ...] | None
    """Set if updates arrive without -U: the columns by which the old row is found."""

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns inside the kernel."""
        return [f"{self.mark}{i}" for i in range(len(self.columns))]

    def name(self, what: str) -> str:
        """Name of a working column: ``old`` and ``new`` multiplicity, ``id``, ``kind``, ``seq``."""
        return f"{self.mark}_{what}"

    @property
    def spec(self) -> tuple[Column, ...]:
        """Columns of its state."""
        return (*self.columns, Column(COUNT, BIGINT), *([Column(MATCHES, BIGINT)] if self.kept else []))

    def inward(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Kernel names in place of the input's."""
        return frame.rename(dict(zip((each.name for each in self.columns), self.names, strict=True)))

    def outward(self, frame: pl.DataFrame) -> pl.DataFrame:
        """A state frame."""
        named = zip(self.names, (each.name for each in self.columns), strict=True)
        extra = [COUNT, MATCHES] if self.kept else [COUNT]
        return frame.select(HASH, *(pl.col(ours).alias(theirs) for ours, theirs in named), *extra)


@dataclass
class Batch:
    """What a micro-batch does to one side."""

    changed: pl.DataFrame
    """Rows whose multiplicity changes: names, HASH, old, new, id, kind, seq."""
    rest: pl.DataFrame
    """State rows of the pages read that do not change: names, HASH, COUNT, MATCHES if kept, id."""
    rewrite: bool
    """True if state rows went into `changed`."""


def hashes(frame: pl.DataFrame) -> pl.DataFrame:
    """Addresses of the state that rows meet."""
    return frame.select(pl.col(HASH).unique())


def retracts(frame: pl.DataFrame) -> bool:
    """True if a row takes one back."""
    return bool(frame[KIND].is_in(REMOVALS).any())


def signed(frame: pl.DataFrame, side: Side) -> pl.DataFrame:
    """Net change of each distinct row: names, HASH, DELTA (never 0), KIND and SEQUENCE of the change that decides."""
    removal = pl.col(KIND).is_in(REMOVALS)
    if not retracts(frame):
        return frame.select(*side.names, HASH, pl.lit(1, pl.Int64).alias(DELTA), KIND, SEQUENCE)
    net = frame.group_by(*side.names, HASH, maintain_order=True).agg(
        pl.when(removal).then(-1).otherwise(1).cast(pl.Int64).sum().alias(DELTA),
        pl.col(KIND).filter(removal).last().alias("lost"),
        pl.col(KIND).filter(~removal).last().alias("gained"),
        pl.col(SEQUENCE).filter(removal).min().alias("first"),
        pl.col(SEQUENCE).filter(~removal).max().alias("last"),
    )
    lost = pl.col(DELTA) < 0
    return net.filter(pl.col(DELTA) != 0).select(
        *side.names,
        HASH,
        DELTA,
        pl.when(lost).then("lost").otherwise("gained").alias(KIND),
        pl.when(lost).then("first").otherwise("last").alias(SEQUENCE),
    )


def load(side: Side, mine: pl.DataFrame, other: pl.DataFrame, state: State) -> Batch:
    """Read what the batch touches on one side, and split it into rows that change and rows that do not."""
    by_key = side.upsert_key is not None
    reread = by_key or retracts(mine)
    wanted = pl.concat([hashes(other), hashes(mine)]).unique() if reread else hashes(other)
    stored = side.inward(state.read(wanted))
    if not reread:
        added = signed(mine, side).with_columns(pl.lit(0, pl.Int64).alias("old"), pl.col(DELTA).alias("new"))
        return _batch(side, added, stored, rewrite=False)
    near = stored.join(hashes(mine), on=HASH, how="semi")
    if by_key:
        mine = _with_replaced(side, mine, near)
    net = signed(mine, side)
    row = [*side.names, HASH]
    held = near.join(net.select(row), on=row, how="semi", nulls_equal=True).group_by(row).agg(pl.col(COUNT).sum())
    changed = (
        net.join(held, on=row, how="left", nulls_equal=True)
        .with_columns(pl.col(COUNT).fill_null(0).alias("old"))
        .with_columns((pl.col("old") + pl.col(DELTA)).clip(lower_bound=0).alias("new"))
        .filter(pl.col("old") != pl.col("new"))
    )
    rest = stored.join(held, on=row, how="anti", nulls_equal=True) if held.height else stored
    return _batch(side, changed, rest, rewrite=held.height > 0)


def _batch(side: Side, changed: pl.DataFrame, rest: pl.DataFrame, rewrite: bool) -> Batch:
    named = changed.select(
        *side.names,
        HASH,
        *(pl.col(what).alias(side.name(what)) for what in ("old", "new")),
        pl.col(KIND).alias(side.name("kind")),
        pl.col(SEQUENCE).alias(side.name("seq")),
    )
    return Batch(named.with_row_index(side.name("id")), rest.with_row_index(side.name("id")), rewrite)


def _with_replaced(side: Side, batch: pl.DataFrame, stored: pl.DataFrame) -> pl.DataFrame:
    """The batch of a side without -U: its last word on each key, with the rows that it replaces taken out."""
    assert side.upsert_key is not None
    key = [side.names[i] for i in side.upsert_key] or [HASH]
    ordered = batch.filter(pl.col(KIND) != int(RowKind.UPDATE_BEFORE)).sort(SEQUENCE, maintain_order=True)
    last = ordered.unique(subset=key, keep="last", maintain_order=True)
    goes = pl.col(KIND) == int(RowKind.DELETE)
    replaced = stored.join(
        last.select(*key, pl.col(KIND), pl.col(SEQUENCE)), on=key, how="inner", nulls_equal=True
    ).with_columns(pl.when(goes).then(KIND).otherwise(int(RowKind.UPDATE_BEFORE)).cast(pl.Int8).alias(KIND))
    columns = [*side.names, HASH, KIND, SEQUENCE]
    copies = replaced.select(pl.col(columns).repeat_by(COUNT)).explode(columns)
    return pl.concat([copies, last.filter(~goes).select(columns)])


def count_matches(
    side: Side, batch: Batch, theirs: str, mine: tuple[pl.DataFrame, pl.DataFrame], rest: pl.DataFrame
) -> Batch:
    """Add the matches before (MATCHES) and after (NEW_MATCHES) the batch to the rows of a side, and when they turned.

    `mine`: pairs of changed rows with rows that stay, and with rows that change; `rest`: pairs of the others with
    changed rows.
    """
    row = side.name("id")
    old, new = pl.col(f"{theirs}_old"), pl.col(f"{theirs}_new")
    steady, moving = mine
    seq = pl.col(f"{theirs}_seq")
    turns = (
        seq.filter(new > old).min().alias("gained_first"),
        seq.filter(new > old).max().alias("gained_last"),
        seq.filter(new < old).min().alias("lost_first"),
        seq.filter(new < old).max().alias("lost_last"),
    )
    per_row = (
        pl.concat(
            [
                steady.select(row, pl.col(COUNT).alias("before"), pl.col(COUNT).alias("after")),
                moving.select(row, old.alias("before"), new.alias("after")),
            ]
        )
        .group_by(row)
        .agg(pl.col("before", "after").sum())
    )
    changed = (
        batch.changed.join(per_row, on=row, how="left")
        .join(moving.group_by(row).agg(turns), on=row, how="left")
        .with_columns(pl.col("before").fill_null(0).alias(MATCHES), pl.col("after").fill_null(0).alias(NEW_MATCHES))
        .drop("before", "after")
    )
    moved = rest.group_by(row).agg((new - old).sum().alias("moved"), *turns)
    kept = batch.rest.join(moved, on=row, how="left").with_columns(
        (pl.col(MATCHES) + pl.col("moved").fill_null(0)).alias(NEW_MATCHES)
    )
    return Batch(changed, kept, batch.rewrite)


def store(side: Side, batch: Batch, state: State) -> None:
    """Write pages anew only if a row in them changed; new rows are appended."""
    now = pl.col(NEW_MATCHES).alias(MATCHES)
    rest = batch.rest
    moved = side.kept and bool((rest[NEW_MATCHES] != rest[MATCHES]).any())
    alive = batch.changed.filter(pl.col(side.name("new")) > 0).with_columns(pl.col(side.name("new")).alias(COUNT))
    if side.kept:
        rest, alive = rest.with_columns(now), alive.with_columns(now)
    present = pl.col(side.name("old")) > 0
    if moved or batch.rewrite:
        state.write(pl.concat([side.outward(rest), side.outward(alive.filter(present))]))
    state.append(side.outward(alive.filter(~present)))
