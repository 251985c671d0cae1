"""The folder of a job: plan, identity, checkpoint, control files, and the lock that keeps a second process out."""

from __future__ import annotations

import fcntl
import json
import os
import re
import time
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from execnodes.core.errors import JobError, PlanError
from rekindle.atomic_file import write_atomically

_ID = re.compile(r"[0-9a-f]{32}")
"""A folder with such a name was made for one job, and has its id."""


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

    def committed_watermark(self) -> int:
        """Watermark (epoch ms) that the last committed micro-batch ran under; 0 before there is one."""
        batch = self.committed_batch()
        return 0 if batch is None else self._logged("offsets", batch, "batchWatermarkMs")

    @property
    def resolved_file(self) -> Path:
        """The plan with its tables' schemas and connectors, which `plan_file` may leave to the catalog."""
        return self.path / "resolved.json"

    @property
    def layout_file(self) -> Path:
        """How the state in the checkpoint is laid out, and by which engine (`rekindle.runtime.layout`)."""
        return self.path / "layout.json"

    @property
    def page_layouts_file(self) -> Path:
        """The layouts that pages of state with accumulators of functions of the user have had."""
        return self.path / "page-layouts.json"

    @property
    def restored_file(self) -> Path:
        """The savepoint this job began from: its folder, watermark, positions and history."""
        return self.path / "restored.json"

    def restored(self) -> dict[str, Any]:
        """What `restored_file` says; empty for a job that began at the beginning."""
        if not self.restored_file.exists():
            return {}
        found: dict[str, Any] = json.loads(self.restored_file.read_text(encoding="utf-8"))
        return found

    def committed_batch(self) -> int | None:
        """The last committed micro-batch; None before the first."""
        return max((int(each.name) for each in (self.checkpoint / "commits").glob("[0-9]*")), default=None)

    def tasks(self) -> int | None:
        """Shuffle partitions, which stay what they were in the first micro-batch; None before there is one."""
        batches = [int(each.name) for each in (self.checkpoint / "offsets").glob("[0-9]*")]
        if not batches:
            return None
        settings = self._metadata("offsets", max(batches)).get("conf", {})
        return int(settings["spark.sql.shuffle.partitions"])

    def floor(self, batch: int) -> int:
        """Watermark (epoch ms) that stands after a committed micro-batch, or stood before the drain; 0 without one."""
        from execnodes.state.operator import DRAINED

        known = [int(self.restored().get("watermark", 0)), self._logged("commits", batch, "nextBatchWatermarkMs")]
        for each in (self.checkpoint / "offsets").glob("[0-9]*"):
            if int(each.name) <= batch:
                known.append(self._logged("offsets", int(each.name), "batchWatermarkMs"))
        return max(each for each in known if each < DRAINED)

    def _logged(self, log: str, batch: int, name: str) -> int:
        return int(self._metadata(log, batch).get(name, 0))

    def _metadata(self, log: str, batch: int) -> dict[str, Any]:
        # Line 1 is the log's version, line 2 the batch's metadata, then a line a source.
        lines = (self.checkpoint / log / str(batch)).read_text(encoding="utf-8").splitlines()
        found: dict[str, Any] = json.loads(lines[1])
        return found

    def acquire(self) -> None:
        """Lock the folder for this process; JobError if another one runs the job."""
        self.path.mkdir(parents=True, exist_ok=True)
        handle = (self.path / "lock").open("a+", encoding="utf-8")
        if not _locked(handle):
            handle.seek(0)
            owner = handle.read().strip() or "unknown"
            handle.close()
            raise JobError(
                f"the job runs already, in process {owner}",
                where=str(self.path),
                hint="Stop that process first, or give this run another --job-dir.",
            )
        handle.truncate(0)
        handle.write(str(os.getpid()))
        handle.flush()
        self._lock = handle

    def check_free(self) -> None:
        """JobError if another process runs the job."""
        if self.path.exists():
            self.acquire()
            self.release()

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
        named = _ID.fullmatch(self.path.name) is not None
        identity = JobIdentity(self.path.name if named else uuid.uuid4().hex, name, int(time.time() * 1000))
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


def _locked(handle: IO[str]) -> bool:
    """Lock a file; whoever only looks whether it is locked holds it for a moment, so that is tried again."""
    for last in (False, False, False, True):
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if not last:
                time.sleep(0.05)
    return False
