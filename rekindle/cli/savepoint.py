"""`rekindle savepoint` and `rekindle stop`: from another process than the job's."""

from __future__ import annotations

import fcntl
import json
import time
from pathlib import Path
from typing import Annotated

import typer

from execnodes.core.errors import JobError

JobDir = Annotated[Path, typer.Argument(metavar="JOB_DIR", help="Folder of the job.")]


def savepoint(
    job_dir: JobDir,
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Folder to write; it must not exist.")],
) -> None:
    """Write a savepoint of a job's last committed micro-batch, whether the job runs or not."""
    from plans.load import load
    from rekindle.runtime.folder import JobFolder
    from rekindle.runtime.session import session
    from rekindle.savepoints.take import take

    folder = JobFolder(job_dir.absolute())
    folder.identity()
    if not folder.resolved_file.exists():
        raise JobError("the job has never run", where=str(job_dir), hint="There is nothing to save; run it first.")
    plan = folder.plan_file.read_text(encoding="utf-8")
    graph = load(folder.resolved_file.read_text(encoding="utf-8"), source=str(folder.resolved_file))
    manifest = take(session(), graph, plan, folder, to)
    for state in manifest.states:
        print(f"{state.title} {state.rows:,} rows, {state.bytes:,} bytes")
    print(f"Savepoint {to}")


def stop(
    job_dir: JobDir,
    savepoint: Annotated[
        Path | None, typer.Option("--savepoint", metavar="DIR", help="Write a savepoint when it has stopped.")
    ] = None,
    drain: Annotated[bool, typer.Option("--drain", help="End the stream as if all input had ended.")] = False,
    timeout: Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="How long to wait.")] = 120.0,
) -> None:
    """Stop a running job and wait until it has stopped."""
    from rekindle.atomic_file import write_atomically
    from rekindle.runtime.folder import JobFolder

    folder = JobFolder(job_dir.absolute())
    folder.identity()
    if not _runs(folder.path):
        raise JobError("the job does not run", where=str(job_dir), hint="Take a savepoint of it with: savepoint.")
    wish = {"savepoint": str(savepoint.absolute()) if savepoint else None, "drain": drain}
    write_atomically(folder.control_file, json.dumps(wish) + "\n", replace=True)
    deadline = time.monotonic() + timeout
    while _runs(folder.path):
        if time.monotonic() > deadline:
            raise JobError(f"the job has not stopped after {timeout:g} s", where=str(job_dir), hint="Look at its log.")
        time.sleep(0.3)
    if savepoint is not None and not savepoint.exists():
        raise JobError("the job stopped without the savepoint", where=str(job_dir), hint="Look at its log.")


def _runs(path: Path) -> bool:
    with (path / "lock").open("a+", encoding="utf-8") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        return False
