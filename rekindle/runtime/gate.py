"""Where a job stops: between two micro-batches, never between what a sink has written and Spark's commit of it."""

from __future__ import annotations

import threading


class GateShutError(Exception):
    """A micro-batch came to a shut gate; nothing of it has been written, and it comes again after a restart."""


class Gate:
    """Stands before the sinks. Thread-safe: micro-batches come from Spark's callbacks, `shut` from anywhere."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shut = False
        self._last: int | None = None
        self._refused = False

    @property
    def refused(self) -> bool:
        """Whether a micro-batch came while it was shut: the query then ends with an error that is none."""
        return self._refused

    def enter(self, batch_id: int) -> None:
        """Called before a micro-batch writes anything; GateShutError if it must not."""
        with self._lock:
            if self._shut:
                self._refused = True
                raise GateShutError(f"micro-batch {batch_id} comes after the job was asked to stop")
            self._last = batch_id

    def shut(self) -> int | None:
        """Let no further micro-batch in; the last one that went in and may still be writing."""
        with self._lock:
            self._shut = True
            return self._last

    def open(self) -> None:
        """Let micro-batches in again."""
        with self._lock:
            self._shut = self._refused = False
            self._last = None
