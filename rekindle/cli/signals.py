"""SIGINT and SIGTERM: obeyed where it is safe, with a word to wait where that takes a while."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

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
    """Signals wait for a `check`, or for the end; a second one ends the process at once.

    An exception amid a call into Spark would break the connection; Spark's own handler would kill every micro-batch.
    """

    def note(number: int, frame: FrameType | None) -> None:
        if _waiting:
            raise SystemExit(128 + number)
        _waiting.append(Interrupted(number))

    with _handlers(note):
        yield
        check()


@contextmanager
def deferring() -> Iterator[None]:
    """Like `checking`, but says so: for what takes a while and has no checks, such as the start of Spark."""

    def defer(number: int, frame: FrameType | None) -> None:
        if _waiting:
            raise SystemExit(128 + number)
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
    """A first further signal only says how long it may take; the next one ends the process at once."""
    told = False

    def explain(number: int, frame: FrameType | None) -> None:
        nonlocal told
        if told:
            raise SystemExit(128 + number)
        told = True
        print("still stopping; once more to end the process at once", file=sys.stderr, flush=True)

    with _handlers(explain):
        yield


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
