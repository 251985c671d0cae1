"""Fixtures that all tests share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One Spark session for the whole process, with the settings jobs run with."""
    from rekindle.spark.session import SMALL_PROGRAMS, session

    made = session(2, {"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "2", **SMALL_PROGRAMS})
    yield made
    made.stop()


@pytest.fixture(scope="session")
def rekindle_spark(spark: SparkSession) -> SparkSession:
    """Restore tests share it."""
    return spark
