"""Whether Spark generates Java code for the queries of a session.

Compiling the code of a query takes longer than interpreting it for a few rows: half of the time of a small job. Spark
decides it by settings of the session, which jobs share. So code is generated as long as one of them wants it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from rekindle.spark.session import change_settings

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

INTERPRETED: Mapping[str, str] = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}
"""Settings under which Spark generates no code."""


@dataclass
class _Session:
    """What is known of a session."""

    before: Mapping[str, str]
    """Its own settings."""
    generates: bool = True
    jobs: set[GeneratedCode] = field(default_factory=set)
    """Those that want code."""


class GeneratedCode:
    """What one job wants of its session."""

    def __init__(self, spark: SparkSession, settings: Mapping[str, str]) -> None:
        """`settings`: those of the job; where they set one of `INTERPRETED`, they alone decide."""
        self._spark = spark
        self._is_fixed = bool(INTERPRETED.keys() & settings.keys())

    def want(self, is_wanted: bool) -> None:
        """Say whether code is worth it for the queries that follow."""
        if self._is_fixed:
            return
        with _lock:
            session = _session(self._spark)
            (session.jobs.add if is_wanted else session.jobs.discard)(self)
            if session.generates == bool(session.jobs):
                return
            session.generates = bool(session.jobs)
            change_settings(self._spark, session.before if session.generates else INTERPRETED)

    def close(self) -> None:
        """The job runs no more queries. The session stays as it is until another job says what it wants."""
        with _lock:
            _session(self._spark).jobs.discard(self)


def _session(spark: SparkSession) -> _Session:
    if spark not in _sessions:
        _sessions[spark] = _Session({key: spark.conf.get(key) or "" for key in INTERPRETED})
    return _sessions[spark]


_sessions: WeakKeyDictionary[SparkSession, _Session] = WeakKeyDictionary()
_lock = Lock()
