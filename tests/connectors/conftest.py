"""The session of connector tests: as jobs have it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@pytest.fixture(scope="session", name="spark")
def job_session(spark: SparkSession) -> SparkSession:
    """A session with the settings of a job, in the process's one Spark."""
    from rekindle.spark.session import prepare

    return prepare(spark, 2, {})
