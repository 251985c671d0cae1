"""Waiting for a job in the foreground: progress while it runs, a clean stop on Ctrl-C, a line at the end."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import typer

from rekindle.cli.progress import LiveReporter, PlainReporter, Reporter, late_rows

if TYPE_CHECKING:
    from rekindle.runtime.job import Job, Progress

INTERRUPTED = 130
"""Exit code after Ctrl-C, as shells have it."""


def attend(job: Job, name: str, go_on: str, *, quiet: bool = False) -> None:
    """Wait for the end of a job; raises what made it fail.

    `go_on` tells how to continue after Ctrl-C. `quiet` leaves out the line at the end.
    """
    from rekindle.runtime.job import follow

    started = time.monotonic()
    try:
        with _interruptible(), reporter(name) as report:
            follow(job, report)
    except KeyboardInterrupt:
        with _uninterruptible():
            print(f"{name}: stopping after the current micro-batch", file=sys.stderr, flush=True)
            job.stop()
        print(f"{name}: stopped. {go_on}", file=sys.stderr, flush=True)
        raise typer.Exit(INTERRUPTED) from None
    if not quiet:
        print(finished(name, job.progress(), time.monotonic() - started), file=sys.stderr, flush=True)


def reporter(name: str) -> Reporter:
    """Live on a terminal; plain when standard error, or the output that rows are printed to, is piped."""
    if not (sys.stderr.isatty() and sys.stdout.isatty()):
        return PlainReporter(sys.stderr)
    from rich.console import Console

    return LiveReporter(Console(stderr=True, highlight=False), name)


def finished(name: str, progress: Progress | None, seconds: float) -> str:
    """The last line about a job."""
    if progress is None:
        return f"{name}: finished in {seconds:.1f} s, no rows"
    late = late_rows(progress)
    dropped = f", {late:,} late rows dropped" if late else ""
    return (
        f"{name}: finished, {progress.rows:,} rows in {progress.batch_id + 1} micro-batches{dropped}, {seconds:.1f} s"
    )


@contextmanager
def _interruptible() -> Iterator[None]:
    """SIGINT and SIGTERM raise KeyboardInterrupt and do nothing else (Spark's own handler kills the micro-batch)."""

    def interrupt(number: int, frame: FrameType | None) -> NoReturn:
        raise KeyboardInterrupt

    with _handlers(interrupt):
        yield


@contextmanager
def _uninterruptible() -> Iterator[None]:
    """A first further SIGINT only says how long it may take; the next one ends the process at once."""
    told = False

    def explain(number: int, frame: FrameType | None) -> None:
        nonlocal told
        if told:
            raise SystemExit(INTERRUPTED)
        told = True
        print("still stopping; once more to end the process at once", file=sys.stderr, flush=True)

    with _handlers(explain):
        yield


@contextmanager
def _handlers(handler: object) -> Iterator[None]:
    numbers = (signal.SIGINT, signal.SIGTERM)
    before = {number: signal.getsignal(number) for number in numbers}
    for number in numbers:
        signal.signal(number, handler)  # type: ignore[arg-type]  # typeshed wants one of its own aliases
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)
