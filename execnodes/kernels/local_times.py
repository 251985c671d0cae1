"""Local times of instants and instants of local times, in microseconds, as `java.time` has them.

A zone may skip minutes, an hour or a whole day (Pacific/Apia, 2011-12-30), and have others twice.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import polars as pl

from execnodes.core.zones import find_offset

_SECOND = 1_000_000
_FAR = 16 * 3600 * _SECOND
"""More than any zone is away from UTC: so long before a skipped time as if it were UTC, the clock has not moved yet."""


def to_local(instant: pl.Expr, zone: str) -> pl.Expr:
    """The local time of an instant."""
    offset = find_offset(zone)
    if offset is not None:
        return instant + offset * _SECOND
    there = instant.cast(pl.Datetime("us", "UTC")).dt.convert_time_zone(zone)
    return there.dt.replace_time_zone(None).cast(pl.Int64)


def to_instant(local: pl.Expr, zone: str) -> pl.Expr:
    """The (earlier) instant of a local time; one that is skipped is moved forward by as much as is skipped."""
    return _to_instant(local, zone, "earliest")


def to_last_instant(local: pl.Expr, zone: str) -> pl.Expr:
    """The last instant at which the clock shows a local time; of one that is skipped when the clock moves forward."""
    return _to_instant(local, zone, "latest")


def _to_instant(local: pl.Expr, zone: str, ambiguous: Literal["earliest", "latest"]) -> pl.Expr:
    offset = find_offset(zone)
    if offset is not None:
        return local - offset * _SECOND
    return local.map_batches(partial(_find_instants, zone=zone, ambiguous=ambiguous), return_dtype=pl.Int64())


def _find_instants(local: pl.Series, zone: str, ambiguous: Literal["earliest", "latest"]) -> pl.Series:
    naive = local.cast(pl.Datetime("us"))
    found = naive.dt.replace_time_zone(zone, ambiguous=ambiguous, non_existent="null").cast(pl.Int64)
    if found.null_count() == local.null_count():
        return found
    skipped = local.filter(found.is_null() & local.is_not_null()).unique()
    before = skipped - _FAR
    moved = skipped - (_localize(before, zone) - before)
    instants = moved if ambiguous == "earliest" else _find_first_after(skipped, before, moved, zone)
    return found.fill_null(local.replace_strict(skipped, instants, default=None, return_dtype=pl.Int64()))


def _find_first_after(local: pl.Series, early: pl.Series, late: pl.Series, zone: str) -> pl.Series:
    """The first whole second at which the clock shows more than `local`: not yet at `early`, but at `late`."""
    low, high = early // _SECOND, -(-late // _SECOND)
    while (high - low > 1).any():
        middle = (low + high) // 2
        after = _localize(middle * _SECOND, zone) > local
        low, high = low.zip_with(after, middle), middle.zip_with(after, high)
    return high * _SECOND


def _localize(instants: pl.Series, zone: str) -> pl.Series:
    return instants.to_frame("i").select(to_local(pl.col("i"), zone)).to_series()
