"""Sessions of a key: rows with no gap between them, in whatever order and micro-batches they come.

A row at T is the session [T, T + gap), and sessions that touch are one. A session that has fired takes no more rows: a
later row that touches it begins its own, so that sessions of a key may overlap. What is kept for a session is kept by
*parts*: a session that a row joins from several has a part for each, and nothing that is kept has to move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import polars as pl

from execnodes.lowering.stream import HASH

PART = "rk_part"
"""Number of a part of a session, from 1, unique among those of a key."""
START, END = "rk_start", "rk_end"
"""Bounds of a session, the same in all of its parts."""
FIRE = "rk_fire"
"""Watermark at which a session fires. A later end never has an earlier one."""
SEEN = "rk_seen"
"""Watermark that a row came under; null before the first."""
TOUCHED = "rk_touched"
"""Whether the batch has a row for the session of a part."""
_ROW, _KEY, _SESSION = "rk_row", "rk_key", "rk_session"
_HOME, _BEGUN, _PLAIN = "rk_home", "rk_begun", "rk_plain"
_NONE = -(2**63)


def assign(rows: pl.DataFrame, parts: pl.DataFrame, keys: Sequence[str]) -> tuple[pl.Series, pl.DataFrame]:
    """The part of each row (null: it is late), and all parts of the rows' keys as they are after them.

    `rows` have `keys`, HASH, START, END, FIRE and SEEN and stand in the order of their arrival; `parts`, those of the
    same keys, have `keys`, HASH, PART, START, END and FIRE, and the result also TOUCHED.
    """
    columns = [HASH, *keys, PART, START, END, FIRE, SEEN, _ROW]
    given = rows.select(
        HASH, *keys, pl.lit(None, pl.Int64).alias(PART), START, END, FIRE, SEEN, pl.int_range(pl.len()).alias(_ROW)
    )
    known = parts.with_columns(pl.lit(None, pl.Int64).alias(SEEN), pl.lit(-1, pl.Int64).alias(_ROW)).select(columns)
    items = _joined(_clustered(pl.concat([known, given]), keys))
    session = pl.col(_SESSION)
    placed = items.filter(session.is_not_null()).with_columns(
        pl.col(START).min().over(_SESSION),
        pl.col(END).max().over(_SESSION),
        pl.col(FIRE).max().over(_SESSION),
        (pl.col(_ROW).max().over(_SESSION) >= 0).alias(TOUCHED),
        pl.coalesce(
            pl.col(PART).min().over(_SESSION),
            pl.col(PART).max().over(_KEY).fill_null(0) + session - session.min().over(_KEY) + 1,
        ).alias(_HOME),
        pl.col(PART).count().over(_SESSION).eq(0).alias(_BEGUN),
    )
    own = placed.filter(pl.col(_ROW) >= 0)
    late = items.filter(session.is_null()).select(_ROW, pl.lit(None, pl.Int64).alias(PART))
    home = pl.concat([own.select(_ROW, pl.col(_HOME).alias(PART)), late]).sort(_ROW)[PART]
    begun = own.filter(_BEGUN).unique(_SESSION, keep="first").with_columns(pl.col(_HOME).alias(PART))
    result = [HASH, *keys, PART, START, END, FIRE, TOUCHED]
    return home, pl.concat([placed.filter(pl.col(_ROW) < 0).select(result), begun.select(result)])


def _clustered(items: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Items with the number of their key and, as _SESSION, of all that would touch if no session ever fired."""
    ordered = items.sort(HASH, *keys, START)
    other = pl.any_horizontal(pl.col(name).ne_missing(pl.col(name).shift()) for name in (HASH, *keys))
    ordered = ordered.with_columns((other & (pl.int_range(pl.len()) > 0)).cum_sum().cast(pl.Int64).alias(_KEY))
    longest = _highest_before(ordered[END], ordered[_KEY])
    apart = (ordered[START] > ordered[END].gather(longest)).fill_null(True)
    return ordered.with_columns(apart.cum_sum().cast(pl.Int64).alias(_SESSION)).sort(_SESSION, _ROW)


def _joined(items: pl.DataFrame) -> pl.DataFrame:
    """Items of each cluster with their session; where the order of rows decides, they are looked at row by row."""
    seen = pl.col(SEEN).fill_null(_NONE)
    # Where nothing fires while the rows come, their order says nothing, and all that touches is one.
    lasting = seen.max().over(_SESSION) < pl.col(FIRE).min().over(_SESSION)
    items = items.with_columns(lasting.alias(_PLAIN))
    passing = items.filter(~pl.col(_PLAIN))
    if passing.is_empty():
        return items
    in_order = passing.with_columns(_in_order(passing).alias(_PLAIN)).with_columns(pl.col(_PLAIN).all().over(_SESSION))
    odd = in_order.filter(~pl.col(_PLAIN))
    found = _one_by_one(odd, int(str(items[_SESSION].max())) + 1)
    one_by_one = odd.with_columns(pl.Series(_SESSION, found, pl.Int64))
    return pl.concat([items.filter(_PLAIN), in_order.filter(_PLAIN), one_by_one])


def _in_order(items: pl.DataFrame) -> pl.Series:
    """Whether an item touches the one session that those before it in its cluster are, which has not fired by then."""
    cluster = items[_SESSION]
    longest, earliest = _highest_before(items[END], cluster), _highest_before(-items[START], cluster)
    before = pl.DataFrame({
        "end": items[END].gather(longest), "start": items[START].gather(earliest), "fire": items[FIRE].gather(longest)
    })  # fmt: skip
    seen, kept = pl.col(SEEN).fill_null(_NONE), pl.col(_ROW) < 0
    same = (pl.col(START) == pl.col("start")) & (pl.col(END) == pl.col("end"))
    touches = (pl.col(START) <= pl.col("end")) & (pl.col(END) >= pl.col("start")) & (seen < pl.col("fire"))
    first = kept | (seen < pl.col(FIRE))
    fits = pl.when(pl.col("end").is_null()).then(first).when(kept).then(same).otherwise(touches)
    return items.hstack(before).select(fits).to_series()


def _highest_before(values: pl.Series, groups: pl.Series) -> pl.Series:
    """Where the highest value is among the rows of the same group that stand before each; null for the first of them.

    Groups stand together and ascend, so that one scan over (group, rank of the value) finds all of them.
    """
    count = len(values)
    order = np.argsort(values.to_numpy(), kind="stable")
    rank = np.empty(count, np.int64)
    rank[order] = np.arange(count)
    offset = groups.to_numpy() * count
    highest = order[np.maximum.accumulate(offset + rank) - offset]
    before = pl.Series(highest, dtype=pl.Int64).shift()
    return before.set(groups.ne_missing(groups.shift()), None)


@dataclass(slots=True)
class _Session:
    start: int
    end: int
    fire: int
    members: list[int] = field(default_factory=list)


def _one_by_one(items: pl.DataFrame, first: int) -> list[int | None]:
    """The session of each item, numbered from `first`; None for rows that are late."""
    found: list[int | None] = [None] * len(items)
    clusters: dict[int, list[_Session]] = {}
    columns = (items[name].to_list() for name in (_SESSION, START, END, FIRE, SEEN, _ROW))
    for place, (cluster, start, end, fire, seen, row) in enumerate(zip(*columns, strict=True)):
        sessions = clusters.setdefault(cluster, [])
        if row < 0:
            same = next((each for each in sessions if (each.start, each.end) == (start, end)), None)
        else:
            same = _merged(sessions, start, end, _NONE if seen is None else seen)
        if same is None:
            if row >= 0 and seen is not None and seen >= fire:
                continue
            same = _Session(start, end, fire)
            sessions.append(same)
        same.start, same.end, same.fire = min(same.start, start), max(same.end, end), max(same.fire, fire)
        same.members.append(place)
    every = (each for sessions in clusters.values() for each in sessions)
    for number, each in enumerate(every, first):
        for place in each.members:
            found[place] = number
    return found


def _merged(sessions: list[_Session], start: int, end: int, seen: int) -> _Session | None:
    """All sessions that the interval touches and that have not fired, made one."""
    touched = [each for each in sessions if each.fire > seen and each.start <= end and each.end >= start]
    if not touched:
        return None
    one, *others = touched
    for each in others:
        one.start, one.end = min(one.start, each.start), max(one.end, each.end)
        one.fire = max(one.fire, each.fire)
        one.members += each.members
        sessions.remove(each)
    return one
