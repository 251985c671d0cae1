"""What Spark is given of a stage: the names of its states, and its host packed, which is opened where rows are.

Whenever a query begins, Spark starts a Python process for each stateful operator only to ask which states it has. With
the host at hand that process would import Polars and all kernels (0.7 s); this module needs nothing but PySpark.
"""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from pyspark import cloudpickle
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle
from pyspark.sql.types import BinaryType, IntegerType, LongType, StructType

if TYPE_CHECKING:
    from execnodes.engine.host import StageHost

# Given as types: of a text PySpark asks the JVM what it means, for every state of every task.
KEY_SCHEMA = StructType().add("bucket", LongType()).add("page", IntegerType()).add("segment", IntegerType())
VALUE_SCHEMA = StructType().add("data", BinaryType())
_dumps: Callable[[object], bytes] = cloudpickle.dumps


class StageProcessor(StatefulProcessor):
    """Declares the states of a stage; its host does the rest."""

    def __init__(self, host: StageHost, states: Sequence[str]) -> None:
        """`states`: `uid__name` of every state of every operator that `host` has."""
        self._states = tuple(states)
        self._packed = _dumps(host)
        self._opened: StageHost | None = None

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare every state."""
        self._handle = handle
        self._maps = {name: handle.getMapState(name, KEY_SCHEMA, VALUE_SCHEMA) for name in self._states}

    def handleInputRows(self, key: Any, rows: Iterator[Any], timerValues: Any) -> Iterator[Any]:  # noqa: N802, N803
        """One micro-batch of one subtask."""
        return self._host().rows(key, rows, timerValues)

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[Any]:  # noqa: N802, N803
        """The watermark has reached a time that an operator asked for."""
        return self._host().timer(key, timerValues)

    def handleInitialState(self, key: Any, initialState: Any, timerValues: Any) -> None:  # noqa: N802, N803
        """Rows of a savepoint for one subtask."""
        self._host().restored(key, initialState, timerValues)

    def close(self) -> None:
        """Nothing is held open."""

    def _host(self) -> StageHost:
        if self._opened is None:
            self._opened = cloudpickle.loads(self._packed)
            _spare_modules()
            self._opened.open(self._handle, self._maps)
        return self._opened


@cache
def _spare_modules() -> None:
    """Once a process: Spark collects garbage after every task, 80 ms if it goes through all modules each time."""
    gc.collect()
    gc.freeze()
