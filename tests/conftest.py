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
    from rekindle.runtime.session import session

    # Hundreds of small programs: the second compiler of the JVM would take more time than it saves.
    quick = {"spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1"}
    made = session(2, {"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "2", **quick})
    yield made
    made.stop()


@pytest.fixture(scope="session")
def rekindle_spark(spark: SparkSession) -> SparkSession:
    """Restore tests share it."""
    return spark
