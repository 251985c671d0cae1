"""The folder of a job: plan, identity, checkpoint, control files, and the lock that keeps a second process out."""

from __future__ import annotations

import fcntl
import json
import os
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from execnodes.core.errors import JobError, PlanError
from rekindle.atomic_file import write_atomically


@dataclass(frozen=True)
class JobIdentity:
    """Who a job is; sinks remember it beside batch ids."""

    job_id: str
    name: str
    created: int
    """Epoch milliseconds."""


class JobFolder:
    """A job's files. Everything is written by rename, so that a crash leaves whole files only."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: IO[str] | None = None

    @property
    def plan_file(self) -> Path:
        """The plan that runs, byte for byte."""
        return self.path / "plan.json"

    @property
    def checkpoint(self) -> Path:
        """Spark's checkpoint."""
        return self.path / "checkpoint"

    @property
    def progress_file(self) -> Path:
        """Last progress, for other processes."""
        return self.path / "progress.json"

    def committed_watermark(self) -> int:
        """Watermark (epoch ms) that the last committed micro-batch ran under; 0 before there is one."""
        commits = [int(each.name) for each in (self.checkpoint / "commits").glob("[0-9]*")]
        if not commits:
            return 0
        # Line 1 is the log's version, line 2 the batch's metadata, then a line a source.
        lines = (self.checkpoint / "offsets" / str(max(commits))).read_text(encoding="utf-8").splitlines()
        return int(json.loads(lines[1])["batchWatermarkMs"])

    def acquire(self) -> None:
        """Lock the folder for this process; JobError if another one runs the job."""
        self.path.mkdir(parents=True, exist_ok=True)
        handle = (self.path / "lock").open("a+", encoding="utf-8")
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            handle.seek(0)
            owner = handle.read().strip() or "unknown"
            handle.close()
            raise JobError(
                f"the job runs already, in process {owner}",
                where=str(self.path),
                hint="Stop that process first, or give this run another --job-dir.",
            ) from None
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        self._lock = handle

    def release(self) -> None:
        """Give the lock back; the end of the process does it too."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def open(self, plan: str, name: str) -> JobIdentity:
        """Take the folder for a plan: a new one is written, an existing one must be the same."""
        if self.plan_file.exists():
            if self.plan_file.read_text(encoding="utf-8") != plan:
                raise PlanError(
                    "the job folder belongs to another plan",
                    where=str(self.path),
                    hint="Run the plan it was started with (plan.json in it), or give a new --job-dir.",
                )
            return self.identity()
        identity = JobIdentity(uuid.uuid4().hex, name, int(time.time() * 1000))
        write_atomically(self.path / "job.json", json.dumps(identity.__dict__, indent=2) + "\n", replace=True)
        write_atomically(self.plan_file, plan, replace=True)
        return identity

    def identity(self) -> JobIdentity:
        """Read job.json; JobError if it is missing or broken."""
        try:
            found = json.loads((self.path / "job.json").read_text(encoding="utf-8"))
            return JobIdentity(found["job_id"], found["name"], found["created"])
        except (OSError, ValueError, KeyError) as error:
            raise JobError(
                f"job.json cannot be read: {error}", where=str(self.path), hint="Give a new --job-dir."
            ) from error
