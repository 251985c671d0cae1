"""SIGINT and SIGTERM: obeyed where it is safe, with a word to wait where that takes a while."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn

_UNWINDS = 3.0
"""Seconds in which a process that is ended at once may remove its temporary files."""
_NUMBERS = (signal.SIGINT, signal.SIGTERM)


class Interrupted(KeyboardInterrupt):
    """One of the signals came."""

    def __init__(self, number: int) -> None:
        super().__init__(signal.Signals(number).name)
        self.exit_code = 128 + number
        """As shells have it: 130 for SIGINT, 143 for SIGTERM."""


def exit_code(error: KeyboardInterrupt) -> int:
    """Of a process that ends by an interrupt."""
    return error.exit_code if isinstance(error, Interrupted) else 128 + signal.SIGINT


_waiting: list[Interrupted] = []
"""A signal that has come and has not been obeyed yet."""


def check() -> None:
    """Raise the signal that has come; nothing if none has."""
    if _waiting:
        raise _waiting.pop()


@contextmanager
def checking() -> Iterator[None]:
    """Signals wait for a `check`, or for the end; a second one ends the process, whatever Spark does.

    An exception amid a call into Spark would break the connection; Spark's own handler would kill every micro-batch.
    """

    def note(number: int, frame: FrameType | None) -> None:
        if _waiting:
            end_at_once(number)
        _waiting.append(Interrupted(number))

    with _handlers(note):
        yield
        check()


@contextmanager
def deferring() -> Iterator[None]:
    """Like `checking`, but says so: for what takes a while and has no checks, such as the start of Spark."""

    def defer(number: int, frame: FrameType | None) -> None:
        if _waiting:
            end_at_once(number)
        _waiting.append(Interrupted(number))
        print("stopping as soon as this can be stopped; once more to end at once", file=sys.stderr, flush=True)

    try:
        with _handlers(defer):
            yield
            check()
    finally:
        _waiting.clear()


@contextmanager
def uninterruptible() -> Iterator[None]:
    """A signal has come, and is obeyed; a second one ends the process, whatever Spark does."""

    def end(number: int, frame: FrameType | None) -> None:
        end_at_once(number)

    with _handlers(end):
        yield


def end_at_once(number: int) -> NoReturn:
    """Unwind, but for a few seconds at most: a call into Spark, or what waits for one, may never come back."""
    code = 128 + number
    killer = threading.Timer(_UNWINDS, _exit, (code,))
    killer.daemon = True
    killer.start()
    raise SystemExit(code)


def _exit(code: int) -> None:
    # Spark's Java process ends with this one; a job that was amid a micro-batch runs it again when it is started.
    os._exit(code)


@contextmanager
def _handlers(handler: object) -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in _NUMBERS}
    for number in _NUMBERS:
        signal.signal(number, handler)  # type: ignore[arg-type]  # typeshed wants one of its own aliases
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
