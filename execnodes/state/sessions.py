"""Sessions of a key: rows with no gap between them, in whatever order and micro-batches they come.

A row at T is the session [T, T + gap), and sessions that touch are one. A session that has fired takes no more rows: a
later row that touches it begins its own, so that sessions of a key may overlap. What is kept for a session is kept by
*parts*: a session that a row joins from several has a part for each, and nothing that is kept has to move.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

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
_NONE, _EVER = -(2**63), 2**63 - 1


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
    begins = _begins(items[_SESSION])
    sessions = items.select(HASH, *keys)[pl.Series(begins)].hstack(_sessions(items, begins))
    number, row = _spread(np.arange(len(begins)), begins, len(items)), items[_ROW].to_numpy()
    own = row >= 0
    home, in_time = np.zeros(len(rows), np.int64), np.zeros(len(rows), bool)
    home[row[own]], in_time[row[own]] = sessions[_HOME].to_numpy()[number[own]], True
    kept = sessions[pl.Series(number[~own])].with_columns(items[PART].filter(pl.Series(~own)))
    begun = sessions.filter(_BEGUN).with_columns(pl.col(_HOME).alias(PART))
    result = [HASH, *keys, PART, START, END, FIRE, TOUCHED]
    homes = pl.select(pl.when(pl.Series(in_time)).then(pl.Series(home)).alias(PART)).to_series()
    return homes, pl.concat([kept.select(result), begun.select(result)])


def _clustered(items: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Items with the number of their key and, as _SESSION, of all that would touch if no session ever fired.

    They stand in the order of these numbers.
    """
    key = np.unique(items[HASH].to_numpy(), return_inverse=True)[1]
    order = np.argsort(_paired(key, items[START].to_numpy()))
    ordered, key = items[pl.Series(order)], key[order]
    same = key[1:] == key[:-1]
    if any(np.any(same & ordered[name].ne_missing(ordered[name].shift()).to_numpy()[1:]) for name in keys):
        # Keys of one hash.
        ordered = items.sort(HASH, *keys, START)
        key = np.cumsum(np.any([ordered[name].ne_missing(ordered[name].shift()) for name in (HASH, *keys)], axis=0))
    bounds = np.concatenate((ordered[START].to_numpy(), ordered[END].to_numpy()))
    start, end = np.split(_paired(np.tile(key, 2), bounds), 2)
    # Also those of another key, whose bounds are all greater.
    apart = np.ones(len(ordered), bool)
    apart[1:] = start[1:] > np.maximum.accumulate(end)[:-1]
    return ordered.with_columns(pl.Series(_KEY, key), pl.Series(_SESSION, np.cumsum(apart)))


def _paired(groups: NDArray[np.int64], values: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers in the order of (group, value), equal for equal ones."""
    if not len(values):
        return values
    least, most = int(values.min()), int(values.max())
    if (int(groups.max()) + 1) * (most - least + 1) >= 2**62:
        values = np.unique(values, return_inverse=True)[1]
        least, most = 0, len(values)
    return groups * (most - least + 1) + (values - least)


def _begins(groups: pl.Series) -> NDArray[np.int64]:
    """Where groups begin whose items stand together."""
    return np.flatnonzero(groups.ne_missing(groups.shift()).to_numpy())


def _spread(values: NDArray[Any], begins: NDArray[np.int64], count: int) -> NDArray[Any]:
    """For each of so many items what its group has."""
    return np.repeat(values, np.diff(np.append(begins, count)))


def _sessions(items: pl.DataFrame, begins: NDArray[np.int64]) -> pl.DataFrame:
    """Bounds of sessions, where their rows' home is, and whether they had no part before."""
    row, session = items[_ROW].to_numpy(), items[_SESSION].to_numpy()
    keys = _begins(items[_KEY])
    last = _spread(np.maximum.reduceat(items[PART].fill_null(0).to_numpy(), keys), keys, len(items))
    first = _spread(session[keys], keys, len(items))
    part = np.minimum.reduceat(items[PART].fill_null(_EVER).to_numpy(), begins)
    begun = part == _EVER
    return pl.DataFrame({
        START: np.minimum.reduceat(items[START].to_numpy(), begins),
        END: np.maximum.reduceat(items[END].to_numpy(), begins),
        FIRE: np.maximum.reduceat(items[FIRE].to_numpy(), begins),
        TOUCHED: np.maximum.reduceat(row, begins) >= 0,
        _HOME: np.where(begun, (last + session - first + 1)[begins], part),
        _BEGUN: begun,
    })  # fmt: skip


def _joined(items: pl.DataFrame) -> pl.DataFrame:
    """Items of each cluster with their session; where the order of rows decides, they are looked at row by row.

    Late ones are left out. They stand in the order of their keys and sessions.
    """
    begins = _begins(items[_SESSION])
    # Where nothing fires while the rows come, their order says nothing, and all that touches is one.
    seen = np.maximum.reduceat(items[SEEN].fill_null(_NONE).to_numpy(), begins)
    lasting = seen < np.minimum.reduceat(items[FIRE].to_numpy(), begins)
    if lasting.all():
        return items
    items = items.with_columns(pl.Series(_PLAIN, _spread(lasting, begins, len(items))))
    passing = items.filter(~pl.col(_PLAIN)).sort(_SESSION, _ROW)
    in_order = passing.with_columns(_in_order(passing).alias(_PLAIN)).with_columns(pl.col(_PLAIN).all().over(_SESSION))
    odd = in_order.filter(~pl.col(_PLAIN))
    found = _one_by_one(odd, int(str(items[_SESSION].max())) + 1)
    one_by_one = odd.with_columns(pl.Series(_SESSION, found, pl.Int64))
    joined = pl.concat([items.filter(_PLAIN), in_order.filter(_PLAIN), one_by_one])
    return joined.filter(pl.col(_SESSION).is_not_null()).sort(_KEY, _SESSION)


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
