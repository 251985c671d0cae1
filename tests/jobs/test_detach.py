"""What a process that is started for a job leaves behind when it does not come to the job."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rekindle.files.job_folder import JobFolder
from rekindle.jobs.detach import StartError, detach
from rekindle.jobs.home import job_info
from rekindle.jobs.status import State, Status


@pytest.fixture
def folder(tmp_path: Path) -> JobFolder:
    folder = JobFolder(tmp_path / "job")
    folder.acquire()
    folder.enrol("sales")
    Status.now(State.STARTING).write(folder.path)
    folder.release()
    return folder


def program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, text: str) -> None:
    """What is run in place of Python."""
    path = tmp_path / "python"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(path))


def test_a_failed_start_is_listed_with_its_error(
    folder: JobFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert job_info(folder.path).state is State.STARTING
    program(monkeypatch, tmp_path, "echo error: no such table >&2; exit 1")
    with pytest.raises(StartError, match="error: no such table"):
        detach(["run", "plan.json"], folder.path)
    job = job_info(folder.path)
    assert (job.state, job.name) == (State.FAILED, "sales")
    assert job.error is not None
    assert job.error.message == "no such table"


def test_a_process_that_is_killed_while_it_starts_is_no_success(
    folder: JobFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = folder.path / "status.json"
    text = '{\\"state\\": \\"STARTING\\", \\"since\\": 1, \\"pid\\": $$}'
    program(monkeypatch, tmp_path, f'echo "{text}" > {status}.new; mv {status}.new {status}; kill -9 $$')
    with pytest.raises(StartError, match="ended with code -9 and said nothing"):
        detach(["run", "plan.json"], folder.path)
    assert job_info(folder.path).state is State.FAILED


def test_a_job_that_another_process_runs_is_left_alone(
    folder: JobFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(monkeypatch, tmp_path, "echo error: the job runs already >&2; exit 1")
    folder.acquire()
    Status.now(State.RUNNING).write(folder.path)
    with pytest.raises(StartError, match="the job runs already"):
        detach(["run", "plan.json"], folder.path)
    assert job_info(folder.path).state is State.RUNNING
    folder.release()


def test_modules_are_not_looked_for_in_the_working_directory(
    folder: JobFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(monkeypatch, tmp_path, 'echo "$1 $2 $3" >&2; exit 1')
    with pytest.raises(StartError, match=r"-P .*rekindle_launcher.py -m"):
        detach(["run", "plan.json"], folder.path)
