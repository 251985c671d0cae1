"""Settings of a job and of the Spark session it runs in."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import OptionError
from rekindle.spark.session import SESSION_SETTINGS, SMALL_PROGRAMS, prepare, refuse_other_meaning

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAVA = "spark.driver.extraJavaOptions"


@pytest.mark.spark
def test_what_the_session_was_started_with_may_be_set_again(spark: SparkSession) -> None:
    prepared = prepare(spark, 2, SMALL_PROGRAMS)
    assert SMALL_PROGRAMS[JAVA] in (prepared.conf.get(JAVA, None) or "")


@pytest.mark.spark
def test_what_is_fixed_is_refused_by_name(spark: SparkSession) -> None:
    with pytest.raises(OptionError, match=f"{JAVA} is fixed once Spark runs"):
        prepare(spark, 2, {JAVA: "-Dother=1"})


@pytest.mark.parametrize(
    ("key", "value"), [("spark.sql.variable.substitute", "true"), ("spark.sql.session.timeZone", "Europe/Berlin")]
)
def test_what_plans_rest_on_is_not_set_otherwise(key: str, value: str) -> None:
    refuse_other_meaning({key: SESSION_SETTINGS[key], "spark.sql.shuffle.partitions": "3"})
    with pytest.raises(OptionError, match=f"{key} is '{SESSION_SETTINGS[key]}' in every job, not '{value}'"):
        refuse_other_meaning({key: value})


@pytest.mark.spark
def test_java_ends_when_it_has_no_memory_left(spark: SparkSession) -> None:
    jvm = spark._jvm
    assert jvm is not None
    given = jvm.java.lang.management.ManagementFactory.getRuntimeMXBean().getInputArguments()
    assert "-XX:+ExitOnOutOfMemoryError" in list(given)


@pytest.mark.spark
def test_java_forgets_past_queries(spark: SparkSession) -> None:
    for _ in range(80):
        spark.range(1).collect()
    store, deadline = spark._jsparkSession.sharedState().statusStore(), time.monotonic() + 60
    while store.executionsCount() > 55:  # a listener counts them, somewhat later
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert store.executionsCount() > 0
