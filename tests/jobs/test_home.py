"""Finding jobs."""

from __future__ import annotations

from pathlib import Path

import pytest

from execnodes.core.errors import JobError
from execnodes.core.options import Configuration
from rekindle.files.job_folder import JobFolder
from rekindle.jobs.home import enlist, find_job, jobs_dir, list_jobs, new_folder
from rekindle.jobs.status import State, Status

FIRST, SECOND, THIRD = "aa11" + "0" * 28, "aa22" + "0" * 28, "bb33" + "0" * 28


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    place = tmp_path / "jobs"
    for job_id, name, state in (
        (FIRST, "sales", State.STOPPED),
        (SECOND, "sales", State.FAILED),
        (THIRD, "clicks", State.RUNNING),
    ):
        assert JobFolder(place / job_id).open("{}", name).job_id == job_id
        Status.now(state).write(place / job_id)
    (place / "no job").mkdir()
    return Configuration({"execution.jobs-dir": str(place)})


@pytest.mark.parametrize(
    ("text", "job_id"),
    [(FIRST, FIRST), ("aa2", SECOND), ("b", THIRD), ("clicks", THIRD)],
)
def test_found(configuration: Configuration, text: str, job_id: str) -> None:
    assert find_job(text, configuration).job_id == job_id


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("sales", "'sales' may be 2 jobs", SECOND),
        ("aa", "'aa' may be 2 jobs", "sales"),
        ("nope", "there is no job 'nope'", "rekindle list"),
        ("", "there is no job ''", "rekindle list"),
        ("no/where", "there is no such job folder", "rekindle list"),
    ],
)
def test_not_found(configuration: Configuration, text: str, message: str, hint: str) -> None:
    with pytest.raises(JobError) as caught:
        find_job(text, configuration)
    assert caught.value.message == message
    assert hint in (caught.value.hint or "")


def test_a_folder_without_a_job(configuration: Configuration) -> None:
    with pytest.raises(JobError, match="this folder holds no job"):
        find_job(str(jobs_dir(configuration) / "no job"), configuration)


def test_of_jobs_with_one_name_the_running_one_is_meant(configuration: Configuration) -> None:
    running = jobs_dir(configuration) / SECOND
    Status.now(State.RUNNING).write(running)
    folder = JobFolder(running)
    folder.acquire()
    assert find_job("sales", configuration).job_id == SECOND
    assert list_jobs(configuration)[0].state is State.RUNNING
    folder.release()
    with pytest.raises(JobError, match="may be 2 jobs"):
        find_job("sales", configuration)


def test_a_job_elsewhere_is_listed_once_it_is_enlisted(configuration: Configuration, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    job_id = JobFolder(elsewhere).open("{}", "far").job_id
    for _ in range(2):
        enlist(elsewhere, job_id, configuration)
    assert find_job("far", configuration).folder == elsewhere
    assert find_job(str(elsewhere), configuration).job_id == job_id
    assert len(list_jobs(configuration)) == 4


def test_a_folder_named_like_an_id_gives_the_job_its_id(configuration: Configuration) -> None:
    enlist(jobs_dir(configuration) / FIRST, FIRST, configuration)
    folder = new_folder(configuration)
    assert JobFolder(folder).open("{}", "new").job_id == folder.name
    assert find_job(folder.name[:6], configuration).folder == folder


def test_the_jobs_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("REKINDLE_HOME", str(tmp_path))
    assert jobs_dir(Configuration()) == tmp_path / "jobs"
    monkeypatch.delenv("REKINDLE_HOME")
    monkeypatch.setenv("HOME", "/home/somebody")
    assert jobs_dir(Configuration()) == Path("/home/somebody/.rekindle/jobs")
    assert list_jobs(Configuration({"execution.jobs-dir": str(tmp_path / "none")})) == []
