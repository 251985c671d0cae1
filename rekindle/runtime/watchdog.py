"""Ends what waits for executors that do not come: a cluster that has lost its master says nothing to its jobs."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from execnodes.core.errors import PassingError
from rekindle.spark.executors import Executors

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

_LOOK = 2.0
"""Seconds between two looks, at most."""
_PATIENCE_AT_STOP = 10.0
"""Seconds that are waited once the job has been told to stop: it waits for nothing else then."""
_log = logging.getLogger("rekindle.jobs")
Look = Callable[[], tuple[int, int]]
"""How many executors there are, and how many tasks run on them."""


class Watchdog:
    """Watches one session, from the moment at which a job has it until `close`."""

    def __init__(
        self,
        look: Look,
        cancel: Callable[[], None],
        patience: float,
        *,
        is_busy: Callable[[], bool] = lambda: True,
        is_stopping: Callable[[], bool] = lambda: False,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`patience`: seconds, 0 for no bound. `cancel` ends what runs; `is_busy`: whether tasks are to run."""
        self._look, self._cancel, self._patience = look, cancel, patience
        self._is_busy, self._is_stopping, self._clock = is_busy, is_stopping, clock
        self._since: float | None = None
        self._closed = threading.Event()
        self.error: PassingError | None = None
        """Why it has ended what ran."""

    @property
    def waits_since(self) -> float | None:
        """Since when there is no executor, by `clock`; None while there are some, or nothing is to run."""
        return self._since

    def start(self) -> None:
        """Look now and then, in a thread of its own."""
        threading.Thread(target=self._watch, name="rekindle-watchdog", daemon=True).start()

    def close(self) -> None:
        """Look no more."""
        self._closed.set()

    def _watch(self) -> None:
        while not self._closed.wait(min(_LOOK, self._patience / 4) if self._patience else _LOOK):
            try:
                self.check()
            except Exception as error:  # noqa: BLE001  # a Java process that does not answer is another's to explain
                _log.debug("executors cannot be looked at: %s", type(error).__name__)

    def check(self) -> None:
        """Look once, and end what runs if it has waited for too long."""
        executors, tasks = self._look() if self._is_busy() else (1, 0)
        now = self._clock()
        if executors or tasks:
            self._since = None
            return
        self._since = now if self._since is None else self._since
        patience = min(self._patience, _PATIENCE_AT_STOP) if self._is_stopping() else self._patience
        if self._patience and now - self._since >= patience:
            # Again and again: what is ended may be tried once more before it is given up.
            self.error = self.error or PassingError(
                f"Spark has had no executor for {round(now - self._since)} s, and no task runs",
                where="spark.master",
                hint="Look at the cluster: whether its master knows the application, and its workers have room. "
                "The job continues from its folder. 'slot.request.timeout' is how long it waits.",
            )
            self._cancel()


def watchdog_of(
    spark: SparkSession, tag: str, patience: float, is_busy: Callable[[], bool], is_stopping: Callable[[], bool]
) -> Watchdog:
    """The one of a session; jobs of Spark with the tag are what it ends."""
    context = spark.sparkContext
    return Watchdog(
        Executors(spark).running,
        lambda: context.cancelJobsWithTag(tag),
        patience,
        is_busy=is_busy,
        is_stopping=is_stopping,
    )
