"""Jobs that run beside the statements of a session: what is said of them, and how they end with it."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

import typer

from execnodes.core.errors import RekindleError
from execnodes.core.words import counted
from rekindle.cli.errors import describe_error
from rekindle.cli.jobs import ended
from rekindle.cli.signals import check, checking, exit_code, uninterruptible

if TYPE_CHECKING:
    from rekindle.runtime.job import Job

_LOOK = 0.3
"""Seconds from one look for signals to the next."""


def announce(job: Job) -> None:
    """Say that a job has begun."""
    print(f"Job {job.job_id} ({job.identity.name}) runs in the background.")
    print(f"Folder {job.folder.path}")


def running(jobs: Iterable[Job]) -> list[Job]:
    """Those that have not ended."""
    return [job for job in jobs if not _ended(job)]


def news(jobs: Iterable[Job], told: set[str]) -> Iterator[str]:
    """Lines about jobs that have ended and are not in `told`, to which they are added."""
    for job in jobs:
        if job.job_id not in told and _ended(job):
            told.add(job.job_id)
            try:
                job.wait()
                yield f"[{_named(job)}: {job.status.state}]"
            except RekindleError as error:
                yield f"[{_named(job)}: FAILED]"
                yield from describe_error(error)


def wait_for(jobs: Sequence[Job]) -> None:
    """Wait until all have ended; raises what made the first one fail. Ctrl-C and SIGTERM stop them all."""
    if not jobs:
        return
    print(f"Waiting for {_count(jobs)} in the background.", file=sys.stderr, flush=True)
    failures = []
    try:
        with checking():
            for job in jobs:
                try:
                    while not job.wait(_LOOK):
                        check()
                    word = job.status.state.lower()
                    print(ended(_named(job), job.progress(), word=word), file=sys.stderr, flush=True)
                except RekindleError as error:
                    failures.append(error)
    except KeyboardInterrupt as signal:
        stop(running(jobs))
        raise typer.Exit(exit_code(signal)) from None
    if failures:
        raise failures[0]


def stop(jobs: Sequence[Job]) -> None:
    """Stop jobs, each after its current micro-batch, and say how to go on with them."""
    if not jobs:
        return
    with uninterruptible():
        print(f"Stopping {_count(jobs)} after the current micro-batch.", file=sys.stderr, flush=True)
        for job in jobs:
            job.stop()
            folder = job.folder.path
            print(
                f"{_named(job)}: stopped. Go on with: rekindle run {folder}/plan.json --job-dir {folder}",
                file=sys.stderr,
                flush=True,
            )


def _named(job: Job) -> str:
    return f"{job.job_id[:8]} {job.identity.name}"


def _count(jobs: Sequence[Job]) -> str:
    return counted(len(jobs), "job")


def _ended(job: Job) -> bool:
    try:
        return job.wait(0)
    except RekindleError:
        return True
