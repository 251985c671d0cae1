"""Settings of a job and of the Spark session it runs in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import OptionError
from rekindle.runtime.session import SMALL_PROGRAMS, prepare

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
JAVA = "spark.driver.extraJavaOptions"


def test_what_the_session_was_started_with_may_be_set_again(spark: SparkSession) -> None:
    prepared = prepare(spark, 2, SMALL_PROGRAMS)
    assert SMALL_PROGRAMS[JAVA] in (prepared.conf.get(JAVA, None) or "")


def test_what_is_fixed_is_refused_by_name(spark: SparkSession) -> None:
    with pytest.raises(OptionError, match=f"{JAVA} is fixed once Spark runs"):
        prepare(spark, 2, {JAVA: "-Dother=1"})
