"""Job folders of which one file was changed, cut, removed or replaced, as `list` and a job that goes on read them.

A case is a line with a file and a kind of damage, and behind it the bytes of the file as Latin-1 text.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from execnodes.core.errors import RekindleError
from execnodes.core.options import Configuration
from rekindle.cli.list import listing
from rekindle.engine.log import COMMITTED, FOLDER, PLANNED, newest_entry, planned
from rekindle.engine.store.disk import LocalDisk
from rekindle.files.job_folder import JobFolder
from rekindle.jobs.home import find_job, list_jobs
from rekindle.jobs.requests import read_answer, read_wish
from rekindle.jobs.status import is_alive, read_progress, read_status
from rekindle.pipeline.page_layouts import read_stored
from rekindle.pipeline.state_layout import read_layout
from tests.fuzz.frame import Defect, Fuzzer

JOB, SOUND = "a" * 32, "b" * 32
ENTRIES = f"engine/{FOLDER}"
_LAYOUT = {
    "engine": "1.0",
    "states": [
        {
            "uid": "3_group-aggregate", "name": "accState", "schema": [["k", "STRING"]], "key": ["k"],
            "bucketed": False, "derived": False, "ttl_ms": 0, "meaning": {"parts": {}, "columns": ["a"]},
        }
    ],
    "format": 1,
}  # fmt: skip
_METADATA = {"batchWatermarkMs": 5, "conf": {"spark.sql.shuffle.partitions": "2"}}
_CONTENT: dict[str, Any] = {
    "job.json": {"job_id": JOB, "name": "sales", "created": 1_700_000_000_000},
    "status.json": {
        "state": "FAILED", "since": 1_700_000_000_000, "pid": 1, "savepoint": None,
        "error": {"message": "no", "where": None, "hint": "do"},
    },
    "progress.json": {
        "batch_id": 1, "rows": 2, "rows_per_second": 3.5, "watermark": "2024-01-01", "state_rows": {"a": 1},
        "counters": {}, "updated": 1_700_000_000_000,
    },
    "restored.json": {
        "savepoint": "/s", "drop": "", "unclaimed": False, "consent": "always", "watermark": 5,
        "positions": {"1_source": "{}"}, "history": [],
    },
    "layout.json": _LAYOUT,
    "page-layouts.json": {"3_a:s": [{"columns": [["k", "STRING", "a"]], "serializers": {"x": "y"}}]},
    "request.json": {"id": "c" * 32, "state": "STOPPED", "savepoint": None, "drain": False},
    "response-1.json": {"error": {"message": "no", "where": None, "hint": None}},
    "plan.json": {},
    "lock": 1,
}  # fmt: skip
_LOGS = {"checkpoint/offsets/0": _METADATA, "checkpoint/commits/0": {"nextBatchWatermarkMs": 7}}
_FILE = {"path": "2.json", "size": 68, "modified": 1_700_000_000_000}
_DRIVER = {"epoch": 1, "driver": "d" * 32, "before": "d" * 32}
_ENTRY = {
    "watermark": 5, "reached": {"1_source": 6}, "ended": [], "timers": {"3_a": {"0": 9}},
    "state": {f"{JOB}.segments": {"3_a": {"accState": [0, 1]}}}, "counters": {"late": 1}, **_DRIVER,
}  # fmt: skip
_SAME: dict[str, Any] = {"from": 0, "more": []}
_PLAN = {"ended": ["1_source"], "idle": [], "clock": None}
_ENTRIES: dict[str, Any] = {
    f"{ENTRIES}/{4:012d}{COMMITTED}": {
        **_ENTRY, "sequence": 4, "micro_batch": 2, "whole": True,
        "positions": {"1_source": {"is": {"read": [_FILE], "left": []}}},
    },
    f"{ENTRIES}/{5:012d}{COMMITTED}": {
        **_ENTRY, "sequence": 5, "micro_batch": 3, "whole": False,
        "positions": {"1_source": {"in": {"read": {"from": 0, "more": [_FILE]}, "left": _SAME}}},
    },
    f"{ENTRIES}/{4:012d}{PLANNED}": {
        **_PLAN, "micro_batch": 4,
        "positions": {"1_source": {"in": {"read": {"from": 1, "more": [_FILE]}, "left": _SAME}}},
    },
}  # fmt: skip
FILES = {
    **{name: json.dumps(content) for name, content in (_CONTENT | _ENTRIES).items()},
    **{name: f"v1\n{json.dumps(content)}\n{{}}" for name, content in _LOGS.items()},
}
_KINDS = ("content", "content", "content", "content", "content", "missing", "folder", "dangling", "loop", "pipe")
_HOSTILE: tuple[Any, ...] = (
    None, True, -1, 0, 2**70, -(2**70), 1.5, float("nan"), float("inf"), "", "x", "../../../x", "\x1b[2J\n", "é\u202e",
    [], {}, [[]], {"a": None}, ["a"], "9" * 5000,
)  # fmt: skip


def draw(random: Random) -> str:
    """One damage to one file."""
    name, kind = random.choice(list(FILES)), random.choice(_KINDS)
    content = _damaged(random, FILES[name]) if kind == "content" else ""
    return f"{name} {kind}\n{content}"


def _damaged(random: Random, text: str) -> str:
    way = random.randrange(8)
    if way < 4:
        head, brace, _ = text.partition("{")
        if brace and "\n" in head:
            lines = text.split("\n")
            lines[1] = _changed(random, lines[1])
            return "\n".join(lines)
        return _changed(random, text)
    if way == 4:
        return text[: random.randrange(len(text))]
    if way == 5:
        return random.choice(list(FILES.values()))
    at = random.randrange(len(text))
    if way == 6:
        return text[:at] + chr(random.randrange(256)) + text[at + 1 :]
    return random.choice(("[" * 100_000, "\xff\xfe\x00\xd8", '"\\ud800"', "{}"))


def _changed(random: Random, text: str) -> str:
    """A value anywhere in the JSON is another one, or a member is gone."""
    whole = json.loads(text)
    holders = [each for each in _holders(whole) if each]
    if not holders:
        return json.dumps(random.choice(_HOSTILE))
    holder = random.choice(holders)
    place: Any = random.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
    if random.random() < 0.2:
        del holder[place]
    else:
        holder[place] = random.choice(_HOSTILE)
    return json.dumps(whole)


def _holders(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        yield value
        for each in value.values() if isinstance(value, dict) else value:
            yield from _holders(each)


def run(case: str) -> None:
    """Read the folder in all ways there are; `list` shows it and its sound neighbour whatever it holds."""
    head, _, content = case.partition("\n")
    name, _, kind = head.partition(" ")
    if name not in FILES or kind not in _KINDS:
        return
    with _damage(_jobs() / JOB / name, kind, content):
        configuration = Configuration({"execution.jobs-dir": str(_jobs())})
        try:
            jobs = list_jobs(configuration)
        except RekindleError as error:
            raise Defect(f"one folder keeps all jobs from being listed: {error.message}") from error
        "\n".join(listing(jobs)).encode()
        json.dumps([job.as_json() for job in jobs]).encode()
        if SOUND not in {job.job_id for job in jobs}:
            raise Defect("the sound job is not listed")
        _read_all(configuration)


def _read_all(configuration: Configuration) -> None:
    """Raises the last error of ours, if there was one."""
    path = _jobs() / JOB
    folder = JobFolder(path)
    readers: tuple[Callable[[], object], ...] = (
        lambda: find_job(JOB, configuration), lambda: read_status(path), lambda: read_progress(path),
        lambda: is_alive(path), folder.identity, folder.restored, folder.tasks, lambda: folder.floor(0),
        folder.check_logs, lambda: read_layout(folder), lambda: read_stored(folder),
        folder.committed_batch, lambda: newest_entry(LocalDisk(str(folder.state))),
        lambda: planned(LocalDisk(str(folder.state)), 4, {"1_source": {"read": [_FILE], "left": []}}),
        lambda: read_wish(path), lambda: read_answer(path / "response-1.json"), folder.acquire, folder.release,
        lambda: folder.open(FILES["plan.json"], "sales"),
    )  # fmt: skip
    told: RekindleError | None = None
    for each in readers:
        try:
            each()
        except RekindleError as error:
            told = error
    if told is not None:
        raise told


@cache
def _jobs() -> Path:
    place = Path(tempfile.mkdtemp(prefix="rekindle-fuzz-"))
    for job in (JOB, SOUND):
        for name, content in FILES.items():
            _write(place / job / name, content.replace(JOB, job))
    return place


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("latin-1", "replace"))


@contextmanager
def _damage(path: Path, kind: str, content: str) -> Iterator[None]:
    path.unlink()
    if kind == "content":
        _write(path, content)
    elif kind == "folder":
        path.mkdir()
    elif kind == "dangling":
        path.symlink_to("nowhere/at/all")
    elif kind == "loop":
        path.symlink_to(path)
    elif kind == "pipe":
        os.mkfifo(path)
    try:
        yield
    finally:
        if path.is_dir() and not path.is_symlink():
            path.rmdir()
        else:
            path.unlink(missing_ok=True)
        # Reading may write: a folder is opened for a job, which makes files that are missing.
        for each in {"job.json", "plan.json", path.relative_to(_jobs() / JOB).as_posix()}:
            _write(_jobs() / JOB / each, FILES[each])


FUZZER = Fuzzer(draw, run, quick=200)
