"""Evaluates expressions on Spark."""

from __future__ import annotations

import pytest
from pyspark.sql import SparkSession

from tests.functions.evaluator import Evaluator


@pytest.fixture(scope="session")
def evaluate(spark: SparkSession) -> Evaluator:
    """Values of expressions over rows."""
    return Evaluator(spark)
