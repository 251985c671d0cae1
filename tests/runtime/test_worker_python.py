"""Workers are started without the archives that Spark puts on their path, and with all else that is on it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SCRIPT = Path(__file__).parents[2] / "rekindle" / "spark" / "worker_python"


@pytest.mark.parametrize(
    ("path", "kept"),
    [
        ("/s/python/lib/pyspark.zip:/s/python/lib/py4j-0.10.9.9-src.zip:/s/jars/spark-core_2.13-4.3.0.jar", []),
        ("/s/python/lib/pyspark.zip:/of the user/lib:/own*.zip", ["/of the user/lib", "/own*.zip"]),
        ("", []),
    ],
)
def test_only_sparks_archives_go(path: str, kept: list[str]) -> None:
    environment = {"PATH": os.environ["PATH"], "REKINDLE_WORKER_PYTHON": sys.executable, "PYTHONPATH": path}
    code = "import os, sys; print([p for p in os.environ['PYTHONPATH'].split(':') if p], sys.argv[1:])"
    done = subprocess.run([SCRIPT, "-c", code, "a b"], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{kept} {['a b']}"


@pytest.mark.spark
def test_workers_have_the_drivers_pyspark(spark: SparkSession) -> None:
    import pyspark
    from pyspark.sql.functions import udf

    @udf("string")
    def where(_: int) -> str:
        import pyspark as theirs

        return str(theirs.__file__)

    (row,) = spark.range(1).select(where("id")).collect()
    assert row[0] == pyspark.__file__
