"""Waiting for a job in the foreground: progress while it runs, a clean stop on Ctrl-C, a line at the end."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from typing import TYPE_CHECKING

import typer

from execnodes.core.errors import RekindleError
from execnodes.core.options import Configuration
from execnodes.core.words import plain
from rekindle.cli.progress import LiveReporter, PlainReporter, Reporter, late_rows
from rekindle.cli.signals import check, checking, exit_code, uninterruptible
from rekindle.cli.terminal import coloured
from rekindle.jobs.home import enlist

if TYPE_CHECKING:
    from rekindle.runtime.job import Job
    from rekindle.runtime.progress import Progress

_LOOK = 0.5
"""Seconds from one look at a job to the next."""
NO_FOLDER = "Its state is gone: it had no job folder."
"""Said of a job that cannot go on."""


def attend(job: Job, name: str, go_on: str, *, report: Reporter | None = None, quiet: bool = False) -> None:
    """Wait for the end of a job; raises what made it fail. Ctrl-C and SIGTERM stop it and give `typer.Exit`.

    `go_on` tells how to continue then. `quiet` leaves out the line at the end.
    """
    started = time.monotonic()
    try:
        with checking(), report or reporter(name) as told:
            _follow(job, told)
    except KeyboardInterrupt as signal:
        with uninterruptible():
            when = "" if job.batch else " after the current micro-batch"
            print(f"{name}: stopping{when}; once more to end at once", file=sys.stderr, flush=True)
            job.stop()
        print(f"{name}: stopped. {go_on}".rstrip(), file=sys.stderr, flush=True)
        raise typer.Exit(exit_code(signal)) from None
    if not quiet:
        word = job.status.state.lower()
        seconds = time.monotonic() - started
        print(ended(name, job.progress(), seconds, word, batch=job.batch), file=sys.stderr, flush=True)


def _follow(job: Job, report: Reporter) -> None:
    """Wait for a job and report its progress whenever a micro-batch has ended; raises the signal that comes."""
    seen = -1
    while True:
        ended = job.wait(_LOOK)
        check()
        progress = job.progress()
        if progress is not None and progress.batch_id != seen:
            seen = progress.batch_id
            report(progress)
        elif not ended:
            report.wait(job.activity())
        if ended:
            return


def list_attached(job: Job, configuration: Configuration) -> None:
    """Let `list` find a job that runs here, in a folder that it was given; without that it runs as well."""
    if configuration.get_option("execution.job-dir"):
        with suppress(OSError, RekindleError):
            enlist(job.folder.path, job.job_id, configuration)


def show_fates(job: Job) -> None:
    """Say what became of each state of the savepoint that a job started from."""
    for fate in job.fates:
        print(fate, file=sys.stderr, flush=True)


def reporter(name: str) -> Reporter:
    """Live on a terminal; plain when standard error, or the output that rows are printed to, is piped."""
    if not (sys.stderr.isatty() and sys.stdout.isatty()):
        return PlainReporter(sys.stderr)
    from rich.console import Console

    return LiveReporter(Console(file=coloured(sys.stderr), highlight=False), plain(name))


def ended(
    name: str, progress: Progress | None, seconds: float | None = None, word: str = "finished", *, batch: bool = False
) -> str:
    """The last line about a job; `word` says how it ended. Of a `batch` job there is no progress to tell."""
    parts = [word, *(["no rows"] if not batch else [])] if progress is None else [word, *_counts(progress)]
    return f"{name}: {', '.join([*parts, f'{seconds:.1f} s'] if seconds is not None else parts)}"


def _counts(progress: Progress) -> Iterator[str]:
    yield f"{progress.rows:,} rows in {progress.batch_id + 1} micro-batches"
    late = late_rows(progress)
    if late:
        yield f"{late:,} late rows dropped"
