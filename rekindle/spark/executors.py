"""What Spark knows of its executors: which there are, and whether tasks run on them."""

from __future__ import annotations

import os
import re
import shutil
import socket
import sys
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import JobError, PassingError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

ONE_PROCESS = re.compile(r"local(?:\[[^]]*\])?")
"""Masters where driver and executors are one process."""
_MASTER = re.compile(r"spark://(.+)")
_SECONDS = 5.0
"""That a master has to answer."""


def is_one_process(spark: SparkSession) -> bool:
    """Whether there are no executors but the driver."""
    return ONE_PROCESS.fullmatch(str(spark.sparkContext.master)) is not None


class Executors:
    """The executors of a session."""

    def __init__(self, spark: SparkSession) -> None:
        jsc: Any = spark.sparkContext._jsc
        self._tracker = jsc.sc().statusTracker()

    def names(self) -> frozenset[str]:
        """Host and port of each; the driver is among them."""
        return frozenset(f"{each.host()}:{each.port()}" for each in self._tracker.getExecutorInfos())

    def running(self) -> tuple[int, int]:
        """How many there are beside the driver, and how many tasks run on them."""
        infos = list(self._tracker.getExecutorInfos())
        return len(infos) - 1, sum(int(each.numRunningTasks()) for each in infos)


def require_python(master: str) -> None:
    """JobError if this machine's workers are to be run by a Python that is not there."""
    program = os.environ["PYSPARK_PYTHON"]
    if ONE_PROCESS.fullmatch(master) and shutil.which(program) is None:
        raise JobError(
            f"Python for Spark's tasks cannot be run: {program}",
            where="environment variable PYSPARK_PYTHON",
            hint=f"Unset it, or set it to a Python with the same packages, such as {sys.executable}.",
        )


def require_master(master: str) -> None:
    """PassingError if no master of a standalone cluster takes a connection; others are asked by Spark itself."""
    found = _MASTER.fullmatch(master)
    if found is None:
        return
    problems = []
    for address in found[1].split(","):
        host, _, port = address.rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), _SECONDS).close()
            return
        except (OSError, ValueError, OverflowError) as error:
            problems.append(getattr(error, "strerror", None) or str(error))
    raise PassingError(
        f"Spark's master cannot be reached: {', '.join(dict.fromkeys(problems))}",
        where=master,
        hint="Start the master, or correct 'spark.master'. The same command may be tried again.",
    )
