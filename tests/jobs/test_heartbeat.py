"""The heartbeat of a job: it moves by itself, and shows whether the job works, waits or hangs."""

from __future__ import annotations

import json
import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from execnodes.core.errors import JobError
from execnodes.core.options import Configuration
from rekindle.cli.jobs import list_attached
from rekindle.cli.list import listing
from rekindle.jobs.control import require_running
from rekindle.jobs.detach import StartError
from rekindle.jobs.home import job_info, list_jobs
from rekindle.jobs.status import PROGRESS, State, Trouble, read_progress, write_progress
from rekindle.runtime import attendant
from rekindle.runtime.progress import Activity, Progress
from tests.jobs.fake import Fake, running


def until(folder: Path, key: str, value: object) -> None:
    deadline = time.monotonic() + 10
    while read_progress(folder).get(key) != value:
        assert time.monotonic() < deadline, read_progress(folder)
        time.sleep(0.02)


def test_it_moves_without_a_micro_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attendant, "_HEARTBEAT", 0.1)
    monkeypatch.setattr(attendant, "_PROGRESS", 0.05)
    with running(tmp_path / "job"):
        until(tmp_path / "job", "activity", "input")
        first = read_progress(tmp_path / "job")
        assert (first["activity_since"], first["last_micro_batch"], first["rows"]) == (1000, 900, 7)
        time.sleep(0.5)
        assert read_progress(tmp_path / "job")["updated"] > first["updated"]
        info = job_info(tmp_path / "job")
        assert (info.activity, info.activity_since, info.last_micro_batch) == ("input", 1000, 900)
        assert info.heartbeat is not None
        assert info.as_json()["heartbeat"] == info.heartbeat
    info = job_info(tmp_path / "job")
    assert (info.state, info.activity, info.last_micro_batch) == (State.FINISHED, None, 900)
    assert read_progress(tmp_path / "job")["activity"] is None


def test_what_it_waits_for_shows_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attendant, "_PROGRESS", 0.05)
    now = ["input"]
    monkeypatch.setattr(Fake, "activity", lambda fake: Activity(now[0], 1000, None))  # type: ignore[arg-type]
    with running(tmp_path / "job"):
        for kind in ("input", "executors", "micro-batch", "restart"):
            now[0] = kind
            until(tmp_path / "job", "activity", kind)


def test_a_process_that_is_silent_looks_hung(tmp_path: Path) -> None:
    with running(tmp_path / "job"):
        until(tmp_path / "job", "activity", "input")
        path = tmp_path / "job" / PROGRESS
        said = json.loads(path.read_text())
        beat = round(time.time() * 1000) - 180_000
        path.write_text(json.dumps({**said, "updated": beat, "rows_per_second": 200.0}))
        info = job_info(tmp_path / "job")
        assert (info.state, info.activity, info.activity_since) == (State.RUNNING, "no heartbeat", beat)
        assert "no heartbeat, 3 min" in "\n".join(listing([info]))
        assert info.rows_per_second == 0


def test_what_earlier_processes_counted_stays_until_there_is_a_micro_batch(tmp_path: Path) -> None:
    write_progress(
        tmp_path, Progress(3, 100, 5.0, "2020-01-01T00:00:00.000+00:00", {}, {}), Activity("input", 2000, 1500)
    )
    earlier = read_progress(tmp_path)
    write_progress(tmp_path, None, Activity("micro-batch", 3000, None), earlier)
    now = read_progress(tmp_path)
    assert (now["rows"], now["rows_per_second"], now["activity"], now["last_micro_batch"]) == (
        100,
        0,
        "micro-batch",
        1500,
    )


def test_a_full_disk_does_not_end_the_heartbeat(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attendant, "_HEARTBEAT", 0.05)
    monkeypatch.setattr(attendant, "_PROGRESS", 0.05)
    left = [2]

    def full(*arguments: object, ended: bool) -> None:
        left[0] -= 1
        if left[0] >= 0:
            raise OSError(28, os.strerror(28))
        write_progress(*arguments, ended=ended)  # type: ignore[arg-type]

    monkeypatch.setattr(attendant, "write_progress", full)
    with running(tmp_path / "job"):
        until(tmp_path / "job", "activity", "input")


def test_a_request_of_a_job_that_has_failed_says_why_it_failed(tmp_path: Path) -> None:
    with running(tmp_path / "job") as (_, info):
        failed = replace(info, state=State.FAILED, error=Trouble("the file was rewritten", "/in/a.json", "Restore it."))
    with pytest.raises(JobError, match="has FAILED: the file was rewritten") as caught:
        require_running(failed)
    assert (caught.value.where, caught.value.hint) == ("/in/a.json", "Restore it.")


def test_a_job_in_the_foreground_is_listed_by_the_folder_it_was_given(tmp_path: Path) -> None:
    configuration = Configuration({"execution.jobs-dir": str(tmp_path / "jobs")})
    with running(tmp_path / "job") as (fake, _):
        list_attached(fake, configuration)  # type: ignore[arg-type]  # stands in for a Job
        assert list_jobs(configuration) == [], "it was given none"
        configuration["execution.job-dir"] = str(tmp_path / "job")
        list_attached(fake, configuration)  # type: ignore[arg-type]  # stands in for a Job
        (job,) = list_jobs(configuration)
        assert (job.job_id, job.folder, job.state) == (fake.job_id, tmp_path / "job", State.RUNNING)
        (tmp_path / "file").touch()
        configuration["execution.jobs-dir"] = str(tmp_path / "file")
        list_attached(fake, configuration)  # type: ignore[arg-type]  # it runs as well where it cannot be listed


@pytest.mark.parametrize(("code", "exits"), [(75, 75), (1, 1), (3, 1), (-9, 1)])
def test_a_job_that_cannot_be_started_says_whether_to_try_again(code: int, exits: int) -> None:
    assert StartError("said", code).exit_code == exits
