"""Local times against `zoneinfo`, in zones that skip or repeat half an hour, an hour, or a day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from execnodes.core.types import LogicalType, TimeKind, timestamp_ltz
from execnodes.core.windowing import Windowing, WindowSpec
from execnodes.core.zones import find_offset
from execnodes.kernels.local_times import to_instant, to_last_instant, to_local
from execnodes.stream.window_aggregate.v1_windows import Windows

EPOCH = datetime(1970, 1, 1)
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
CHANGES = {
    "Pacific/Apia": ("2011-12-30 00:00:00", "2021-04-04 03:30:00"),
    "Pacific/Kwajalein": ("1993-08-21 00:00:00",),
    "Asia/Kathmandu": ("1986-01-01 00:00:00",),
    "Australia/Lord_Howe": ("2024-10-06 02:00:00", "2024-04-07 01:30:00"),
    "America/St_Johns": ("2024-03-10 02:00:00", "2024-11-03 01:00:00", "1988-04-03 00:01:00"),
    "Africa/Casablanca": ("2024-03-10 02:00:00", "2024-04-14 02:00:00"),
    "Europe/Berlin": ("2024-03-31 02:00:00", "2024-10-27 02:00:00"),
    "America/Sao_Paulo": ("2018-11-04 00:00:00",),
    "Asia/Pyongyang": ("2018-05-04 23:30:00", "2015-08-15 00:00:00"),
    "America/Caracas": ("2016-05-01 02:30:00", "2007-12-09 03:00:00"),
    "Asia/Kolkata": ("2024-01-01 00:00:00",),
    "UTC": ("2024-01-01 00:00:00",),
}
"""Zones, and about when their clocks moved."""


def micros(local: datetime) -> int:
    return (local - EPOCH) // timedelta(microseconds=1)


def shown(instant: datetime, zone: str) -> datetime:
    """What the clock shows at an instant of UTC."""
    return instant.replace(tzinfo=UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None)


def instant(local: datetime, zone: str, fold: int = 0) -> datetime:
    """An instant in UTC; skipped times by the offset before, or with `fold` after, the clock moves."""
    return local.replace(tzinfo=ZoneInfo(zone), fold=fold).astimezone(UTC).replace(tzinfo=None)


def last_instant(local: datetime, zone: str) -> datetime:
    """Minute by minute, where the clock does not show it."""
    late = instant(local, zone, 1)
    if shown(late, zone) == local:
        return late
    minute = late.replace(second=0, microsecond=0)
    while shown(minute, zone) <= local:
        minute += MINUTE
    return minute


@st.composite
def times(draw: st.DrawFn) -> tuple[str, list[datetime]]:
    """A zone, and local times around a change of its clocks."""
    zone = draw(st.sampled_from(sorted(CHANGES)))
    change = datetime.fromisoformat(draw(st.sampled_from(CHANGES[zone])))
    away = st.timedeltas(-30 * HOUR, 30 * HOUR) | st.integers(-8, 60).map(lambda quarters: quarters * 15 * MINUTE)
    return zone, draw(st.lists(away.map(lambda each: change + each), min_size=1, max_size=6))


@settings(max_examples=120, deadline=None)
@given(times())
@example(("Pacific/Apia", [datetime(2011, 12, 30, 12), datetime(2011, 12, 29, 23, 59), datetime(2011, 12, 31)]))
@example(("Australia/Lord_Howe", [datetime(2024, 10, 6, 2, 10), datetime(2024, 4, 7, 1, 40)]))
@example(("America/St_Johns", [datetime(2024, 3, 10, 2, 15)]))
def test_times_are_those_of_zoneinfo(case: tuple[str, list[datetime]]) -> None:
    zone, local = case
    rows = pl.DataFrame({"t": list(map(micros, local))})
    found = rows.select(
        local=to_local(pl.col("t"), zone), first=to_instant(pl.col("t"), zone), last=to_last_instant(pl.col("t"), zone)
    )
    assert found["local"].to_list() == [micros(shown(each, zone)) for each in local]
    assert found["first"].to_list() == [micros(instant(each, zone)) for each in local]
    assert found["last"].to_list() == [micros(last_instant(each, zone)) for each in local]


@settings(max_examples=60, deadline=None)
@given(times(), st.sampled_from([10, 20, 45, 60, 24 * 60, 48 * 60]), st.integers(1, 4))
def test_no_window_fires_while_rows_for_it_can_come(case: tuple[str, list[datetime]], step: int, parts: int) -> None:
    """Of whatever window: a row of its last moment is not after the watermark that it fires at."""
    zone, moments = case
    spec = WindowSpec(type="HoppingWindow", size=parts * step * 60_000, slide=step * 60_000)
    windows = Windows(windowing(spec), zone)
    rows = pl.DataFrame({"t": list(map(micros, moments))})
    ends = rows.with_columns(end=windows.first(pl.col("t"))).with_columns(pl.col("end") + windows.size - windows.step)
    found = ends.select("t", fires=windows.firing(pl.col("end")), time=windows.time(pl.col("end")))
    for time, fires, rowtime in found.rows():
        assert time // 1000 <= fires
        assert rowtime is not None


def windowing(spec: WindowSpec) -> Windowing:
    time: LogicalType = timestamp_ltz(3, TimeKind.ROWTIME)
    return Windowing(strategy="TimeAttribute", window=spec, time_attribute_type=time, time_attribute_index=0)


@pytest.mark.parametrize(
    ("zone", "end", "fires"),
    [
        ("Pacific/Apia", "2011-12-30 12:00:00", "2011-12-30 10:00:00"),
        ("Australia/Lord_Howe", "2024-10-06 02:10:00", "2024-10-05 15:30:00"),
        ("America/St_Johns", "2024-03-10 02:30:00", "2024-03-10 05:30:00"),
        ("Europe/Berlin", "2024-03-31 02:30:00", "2024-03-31 01:00:00"),
    ],
)
def test_a_window_that_ends_in_a_skipped_time_fires_when_the_clock_moves(zone: str, end: str, fires: str) -> None:
    windows = Windows(windowing(WindowSpec(type="SessionWindow", gap=1)), zone)
    (fired,) = pl.select(windows.firing(pl.lit(micros(datetime.fromisoformat(end))))).row(0)
    assert fired * 1000 == micros(datetime.fromisoformat(fires))


@pytest.mark.parametrize(("zone", "hours"), [("+05:30", 5.5), ("GMT-8", -8), ("UTC+2", 2), ("Z", 0), ("UTC", 0)])
def test_zones_may_be_offsets(zone: str, hours: float) -> None:
    offset = round(hours * 3_600_000_000)
    found = pl.select(
        to_local(pl.lit(0), zone), to_instant(pl.lit(0), zone).alias("a"), to_last_instant(pl.lit(0), zone).alias("b")
    )
    assert found.row(0) == (offset, -offset, -offset)
    assert find_offset(zone) == hours * 3600
    assert find_offset("Europe/Berlin") is None


def test_times_that_are_missing_stay_so() -> None:
    rows = pl.DataFrame({"t": [None, micros(datetime(2011, 12, 30, 1))]})
    found = rows.select(
        to_last_instant(pl.col("t"), "Pacific/Apia"), to_instant(pl.col("t"), "Pacific/Apia").alias("a")
    )
    assert found.row(0) == (None, None)
    assert None not in found.row(1)
