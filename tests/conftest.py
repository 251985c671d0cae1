"""Fixtures that all tests share."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import hypothesis
import pytest

from tests.durations import read

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# The same examples on every machine: what lands is decided by the change, not by a draw. New ones are for long runs.
hypothesis.settings.register_profile("same", derandomize=True, deadline=None, database=None)
hypothesis.settings.register_profile("new", deadline=None)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))


_SLOW = 3.0
"""Seconds from which on a test is among the first ones, so that none of them is left when the others have ended."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Slowest first, as far as that is known of the last run that was kept."""
    known = {name: sum(phases.values()) for name, phases in read().items()}
    seconds = {item.nodeid: known.get(item.nodeid, 0.0) for item in items}
    items.sort(key=lambda item: -seconds[item.nodeid] if seconds[item.nodeid] >= _SLOW else 0)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One Spark session for the whole process, with the settings jobs run with."""
    from rekindle.spark.session import SMALL_PROGRAMS, session

    made = session(2, {"spark.driver.memory": "3g", "spark.sql.shuffle.partitions": "2", **SMALL_PROGRAMS})
    yield made
    made.stop()


@pytest.fixture(scope="module", autouse=True)
def _frames_that_nobody_has() -> Iterator[None]:
    """Frees the Java side of frames that the tests of a module have dropped: Python does not see how large they are."""
    yield
    if "pyspark" in sys.modules:
        gc.collect()


@pytest.fixture(autouse=True)
def _spark_still_runs() -> None:
    """Says why, where Spark's process has ended; what a test would say is only that nobody answers."""
    if "pyspark" in sys.modules:
        from rekindle.spark.java import require_alive

        require_alive()


@pytest.fixture(scope="session")
def rekindle_spark(spark: SparkSession) -> SparkSession:
    """Restore tests share it."""
    return spark
