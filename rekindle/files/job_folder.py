"""The folder of a job: plan, identity, checkpoint, control files, and the lock that keeps a second process out."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import tempfile
import time
import uuid
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO, Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from execnodes.core.errors import JobError, PlanError
from execnodes.core.local_paths import PathError
from plans.format.job_options import is_same_pipeline
from rekindle.files.atomic_file import owners_opener, private_folder, write_atomically
from rekindle.files.json_files import Id, Millis, parsed, read_json, read_text
from rekindle.files.paths import entered

_NUMBER = re.compile(r"[0-9]{1,18}")
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
"""Numbers of errors of a disk that is full."""
_ID = re.compile(r"[0-9a-f]{32}")
"""A folder with such a name was made for one job, and has its id."""


@dataclass(frozen=True)
class JobIdentity:
    """Who a job is; sinks remember it beside batch ids."""

    job_id: Id
    name: str
    created: Millis
    """Epoch milliseconds."""


class Restored(TypedDict, total=False):
    """The content of restored.json."""

    savepoint: str
    drop: str
    unclaimed: bool
    consent: str
    watermark: int
    positions: dict[str, str]
    history: list[dict[str, Any]]


class _Committed(TypedDict):
    """What is read of an entry of the job's log (see `rekindle.engine.log`)."""

    micro_batch: int


class _Logged(TypedDict, total=False):
    """What is read of the second line of a file of Spark's offset or commit log."""

    batchWatermarkMs: int
    nextBatchWatermarkMs: int
    conf: dict[str, str]


_IDENTITY, _RESTORED, _LOGGED = TypeAdapter(JobIdentity), TypeAdapter(Restored), TypeAdapter(_Logged)
_COMMITTED = TypeAdapter(_Committed)
_GIVE = "Give a new --job-dir."
_ANEW = "Start from a savepoint in a new --job-dir."


class JobFolder:
    """A job's files. Everything is written by rename, so that a crash leaves whole files only."""

    def __init__(self, path: Path) -> None:
        try:
            # Executors have another working directory.
            self.path = entered(path)
        except PathError as error:
            what = error.message.replace("the path", "the job folder", 1)
            raise JobError(what, where=error.where, hint="Give another --job-dir.") from error
        self._lock: IO[str] | None = None

    @property
    def plan_file(self) -> Path:
        """The plan that runs, byte for byte."""
        return self.path / "plan.json"

    @property
    def state(self) -> Path:
        """Segments of state, and the log that says which of them there are."""
        return self.path / "engine"

    @property
    def checkpoint(self) -> Path:
        """Spark's checkpoint."""
        return self.path / "checkpoint"

    @property
    def resolved_file(self) -> Path:
        """The plan with its tables' schemas and connectors, which `plan_file` may leave to the catalog."""
        return self.path / "resolved.json"

    @property
    def layout_file(self) -> Path:
        """How the state in the checkpoint is laid out, and by which engine (`rekindle.pipeline.state_layout`)."""
        return self.path / "layout.json"

    @property
    def page_layouts_file(self) -> Path:
        """The layouts that pages of state with accumulators of functions of the user have had."""
        return self.path / "page-layouts.json"

    @property
    def restored_file(self) -> Path:
        """The savepoint this job began from: its folder, watermark, positions and history."""
        return self.path / "restored.json"

    def restored(self) -> Restored:
        """What `restored_file` says; empty for a job that began at the beginning."""
        found = read_json(self.restored_file, _RESTORED, hint=_ANEW)
        return {} if found is None else found

    def committed_batch(self) -> int | None:
        """The last committed micro-batch; None before the first."""
        logged = self._logged_batch()
        return self.checkpointed_batch() if logged is None else logged

    @property
    def is_logged(self) -> bool:
        """Whether micro-batches of the job are in its log, not in Spark's checkpoint."""
        return self._logged_batch() is not None

    def checkpointed_batch(self) -> int | None:
        """The last micro-batch that Spark's checkpoint has committed."""
        return max(self._batches("commits"), default=None)

    def planned_batch(self) -> int | None:
        """The last micro-batch that Spark's checkpoint has planned; it may have reached sinks."""
        return max(self._batches("offsets"), default=None)

    def _logged_batch(self) -> int | None:
        """The last micro-batch in the job's log; None without one."""
        entries = [each for each in (self.state / "log").glob("*.committed") if _NUMBER.fullmatch(each.stem)]
        if not entries:
            return None
        newest = max(entries, key=lambda each: int(each.stem))
        entry = read_json(newest, _COMMITTED, hint=_ANEW)
        return None if entry is None or entry["micro_batch"] < 0 else entry["micro_batch"]

    def tasks(self) -> int | None:
        """Shuffle partitions, which stay what they were in the first micro-batch; None before there is one."""
        batches = self._batches("offsets")
        if not batches:
            return None
        text = self._metadata("offsets", max(batches)).get("conf", {}).get("spark.sql.shuffle.partitions", "")
        if not _NUMBER.fullmatch(text) or not 0 < int(text) < 2**31:
            where = str(self.checkpoint / "offsets" / str(max(batches)))
            raise JobError(f"spark.sql.shuffle.partitions is {text!r}", where=where, hint=_ANEW)
        return int(text)

    def check_logs(self) -> None:
        """JobError if the newest file of a log of the checkpoint is not whole; Spark would tell it in its own words."""
        for log in ("offsets", "commits"):
            for batch in sorted(self._batches(log))[-1:]:
                self._metadata(log, batch)

    def _batches(self, log: str) -> list[int]:
        """Numbers of the micro-batches that a log knows."""
        return [int(each.name) for each in (self.checkpoint / log).glob("[0-9]*") if _NUMBER.fullmatch(each.name)]

    def floor(self, batch: int) -> int:
        """Watermark (epoch ms) that stands after a committed micro-batch, or stood before the drain; 0 without one."""
        from execnodes.state.operator import DRAINED

        known = [self.restored().get("watermark", 0), self._metadata("commits", batch).get("nextBatchWatermarkMs", 0)]
        for each in self._batches("offsets"):
            if each <= batch:
                known.append(self._metadata("offsets", each).get("batchWatermarkMs", 0))
        return max((each for each in known if each < DRAINED), default=0)

    def _metadata(self, log: str, batch: int) -> _Logged:
        # Line 1 is the log's version, line 2 the batch's metadata, then a line a source.
        path = self.checkpoint / log / str(batch)
        lines = read_text(path, hint=_ANEW).split("\n")
        if len(lines) < 2:
            raise JobError("the file is cut off: it has no second line", where=str(path), hint=_ANEW)
        return parsed(lines[1], _LOGGED, str(path), hint=_ANEW)

    def acquire(self) -> None:
        """Lock the folder for this process; JobError if another one runs the job, or it cannot be used."""
        try:
            # What the job keeps is for nobody else to read, also not what Spark writes below.
            private_folder(self.path)
            path = self.path / "lock"
            if path.exists() and not path.is_file():
                raise ValueError("its lock is no file")
            handle = open(path, "a+", encoding="utf-8", errors="replace", opener=owners_opener)  # noqa: SIM115  # kept
            held = _locked(handle)
        except (OSError, ValueError) as error:
            raise self._unusable(error) from error
        if not held:
            handle.seek(0)
            owner = handle.read(20).strip() or "unknown"
            handle.close()
            handle.close()
            raise JobError(
                f"the job runs already, in process {owner}",
                where=str(self.path),
                hint="Stop that process first, or give this run another --job-dir.",
            )
        self._lock = handle
        try:
            handle.truncate(0)
            handle.write(str(os.getpid()))
            handle.flush()
        except OSError as error:
            self.release()
            raise self._unusable(error) from error

    def _unusable(self, error: OSError | ValueError) -> JobError:
        what = error.strerror if isinstance(error, OSError) else str(error)
        what = "a file has its name" if isinstance(error, FileExistsError | NotADirectoryError) else what
        hint = (
            "Free some space." if isinstance(error, OSError) and error.errno in NO_ROOM else "Give another --job-dir."
        )
        return JobError(f"the job folder cannot be used: {what}", where=str(self.path), hint=hint)

    def release(self) -> None:
        """Give the lock back; the end of the process does it too."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    def open(self, plan: str, name: str) -> JobIdentity:
        """Take the folder for a plan: a new one is written, an existing one is the same but for the job's options."""
        if self.has_plan(plan):
            if read_text(self.plan_file, hint=_GIVE) != plan:
                write_atomically(self.plan_file, plan, replace=True, private=True)
            return self.identity()
        # The first of the two files may be there, from a process that was killed before it wrote the second one.
        identity = self.enrol(name)
        write_atomically(self.plan_file, plan, replace=True, private=True)
        return identity

    def has_plan(self, plan: str) -> bool:
        """Whether the folder has this plan; False if it has none yet, PlanError if it has another one."""
        if not self.plan_file.exists():
            return False
        if not is_same_pipeline(read_text(self.plan_file, hint=_GIVE), plan):
            raise PlanError(
                "the job folder belongs to another plan",
                where=str(self.path),
                hint="Run the plan it was started with (plan.json in it), or give a new --job-dir.",
            )
        return True

    def enrol(self, name: str) -> JobIdentity:
        """Write down who the job in a folder is that has no plan yet."""
        named = _ID.fullmatch(self.path.name) is not None
        identity = JobIdentity(self.path.name if named else uuid.uuid4().hex, name, int(time.time() * 1000))
        if os.path.lexists(self.path / "job.json"):
            identity = replace(self.identity(), name=name)
        text = json.dumps(identity.__dict__, indent=2) + "\n"
        write_atomically(self.path / "job.json", text, replace=True, private=True)
        return identity

    def identity(self) -> JobIdentity:
        """Read job.json; JobError if it is missing or broken."""
        found = read_json(self.path / "job.json", _IDENTITY, hint=_GIVE)
        if found is None:
            raise JobError("job.json is missing", where=str(self.path), hint=_GIVE)
        return found


def temporary_folder() -> str:
    """A new folder for a job that was given none; JobError if there is no room for one."""
    try:
        return tempfile.mkdtemp(prefix="rekindle-job-")
    except OSError as error:
        raise JobError(
            f"there is no room for temporary files: {error.strerror}",
            where=error.filename,
            hint="Set TMPDIR to a folder that can be written, or give the job a folder: --job-dir.",
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
