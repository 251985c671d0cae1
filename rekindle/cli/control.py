"""`rekindle savepoint`, `rekindle cancel`, `rekindle stop`: what is asked of a job in another process."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rekindle.cli.arguments import JobName, Options
from rekindle.cli.inputs import configured

if TYPE_CHECKING:
    from rekindle.jobs.home import JobInfo
    from rekindle.jobs.status import State

Timeout = Annotated[float, typer.Option("--timeout", metavar="SECONDS", min=0, help="How long to wait.")]
SavepointAtEnd = Annotated[
    Path | None, typer.Option("--savepoint", metavar="DIR", help="Leave a savepoint in this folder; it must not exist.")
]


def savepoint(
    job: JobName,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Folder to write; it must not exist.")],
    timeout: Timeout = 300.0,
    options: Options = None,
) -> None:
    """Write a savepoint of a job's last committed micro-batch. A running job goes on; an ended one stays as it is."""
    from rekindle.jobs.savepoint import take_savepoint

    manifest = take_savepoint(_found(job, options), to, timeout)
    for state in manifest.states:
        print(f"{state.title} {state.rows:,} rows, {state.bytes:,} bytes")
    print(f"Savepoint {to}")


def cancel(job: JobName, savepoint: SavepointAtEnd = None, timeout: Timeout = 300.0, options: Options = None) -> None:
    """End a job for good, at the end of its micro-batch: it is CANCELED then, and not meant to go on."""
    from rekindle.jobs.status import State

    _end(_found(job, options), State.CANCELED, savepoint, drain=False, timeout=timeout)


def stop(
    job: JobName,
    savepoint: SavepointAtEnd = None,
    drain: Annotated[bool, typer.Option("--drain", help="End the stream as if all input had ended.")] = False,
    timeout: Timeout = 300.0,
    options: Options = None,
) -> None:
    """Stop a job at the end of its micro-batch. It can go on from its folder, or from the savepoint."""
    from rekindle.jobs.status import State

    _end(_found(job, options), State.STOPPED, savepoint, drain=drain, timeout=timeout)


def _found(job: str, options: list[str] | None) -> JobInfo:
    from rekindle.jobs.home import find_job

    return find_job(job, configured(options))


def _end(job: JobInfo, state: State, savepoint: Path | None, *, drain: bool, timeout: float) -> None:
    from rekindle.jobs.control import ask_to_stop

    ended = ask_to_stop(job, state, savepoint=savepoint, drain=drain, timeout=timeout)
    print(f"{ended.job_id} {ended.name} {ended.state}")
    if savepoint is not None:
        print(f"Savepoint {savepoint}")
