"""Job folders that cannot be used, and files in them that are not as they were written."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path

import pytest

from execnodes.core.errors import JobError, RekindleError
from execnodes.core.options import Configuration
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli.list import listing
from rekindle.files.job_folder import JobFolder
from rekindle.jobs.home import JobInfo, find_job, list_jobs
from rekindle.jobs.status import State, Status, read_status, state_of
from rekindle.pipeline.failures import of_disk

JOB, OTHER = "aa11" + "0" * 28, "bb22" + "0" * 28


@pytest.fixture
def configuration(tmp_path: Path) -> Configuration:
    for job in (JOB, OTHER):
        JobFolder(tmp_path / job).open("{}", "sales")
        Status.now(State.STOPPED).write(tmp_path / job)
    return Configuration({"execution.jobs-dir": str(tmp_path)})


def states(jobs: list[JobInfo]) -> dict[str, State]:
    return {job.job_id: job.state for job in jobs}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("job.json", "{", "Invalid JSON: EOF"),
        ("job.json", '{"job_id": "../x", "name": "a", "created": 1}', "job_id: String should match pattern"),
        ("job.json", json.dumps({"job_id": JOB, "name": "a", "created": 10**20}), "created: Input should be less"),
        ("status.json", "[1]", "Input should be an object"),
        ("status.json", '{"state": "GONE", "since": 1, "pid": 1}', "state: Input should be"),
        ("progress.json", '{"rows": "many"}', "rows: Input should be a valid integer"),
    ],
)
def test_one_broken_folder_is_listed_as_such(configuration: Configuration, name: str, text: str, said: str) -> None:
    place = Path(configuration["execution.jobs-dir"])
    (place / JOB / name).write_text(text)
    jobs = list_jobs(configuration)
    assert states(jobs) == {JOB: State.BROKEN, OTHER: State.STOPPED}
    *_, last = listing(jobs)
    assert last.startswith(f"aa110000 cannot be read: the file cannot be read: {said}")
    assert str(place / JOB / name) in last
    with pytest.raises(JobError) as caught:
        find_job("aa", configuration)
    assert caught.value.where == str(place / JOB / name)
    assert json.dumps([job.as_json() for job in jobs])


def test_what_a_terminal_would_obey_is_not_printed(configuration: Configuration) -> None:
    folder = JobFolder(Path(configuration["execution.jobs-dir"]) / ("c" * 32))
    folder.open("{}", "a\x1b[2Jb\nc")
    assert not any("\x1b" in line for line in listing(list_jobs(configuration)))


@pytest.mark.parametrize(
    ("log", "text", "said"),
    [
        ("commits", "v1", "cut off"),
        ("commits", "v1\n", "EOF while parsing"),
        ("offsets", 'v1\n{"batchWatermarkMs": "x"}', "batchWatermarkMs: Input should be a valid integer"),
        ("offsets", 'v1\n{"conf": {"spark.sql.shuffle.partitions": "-2"}}', "spark.sql.shuffle.partitions is '-2'"),
    ],
)
def test_logs_that_are_not_whole(tmp_path: Path, log: str, text: str, said: str) -> None:
    path = tmp_path / "checkpoint" / log / "7"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(JobError, match=said) as caught:
        read_logs(JobFolder(tmp_path))
    assert caught.value.where == str(path)
    assert "savepoint" in (caught.value.hint or "")


def read_logs(folder: JobFolder) -> None:
    folder.check_logs()
    folder.tasks()


def in_the_way(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("")
    return tmp_path / "file"


def below_a_file(tmp_path: Path) -> Path:
    return in_the_way(tmp_path) / "job"


def dangling(tmp_path: Path) -> Path:
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    return tmp_path / "link"


def locked_by_a_folder(tmp_path: Path) -> Path:
    (tmp_path / "job" / "lock").mkdir(parents=True)
    return tmp_path / "job"


def not_to_be_made(tmp_path: Path) -> Path:
    return Path("/proc/rekindle/job")


@pytest.mark.parametrize(
    "make", [in_the_way, below_a_file, dangling, locked_by_a_folder, not_to_be_made], ids=lambda f: f.__name__
)
def test_a_folder_that_cannot_be_used_is_told_before_spark_starts(
    tmp_path: Path, make: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert callable(make)
    path = make(tmp_path)
    environment = TableEnvironment.create({"execution.job-dir": str(path), "execution.runtime-mode": "streaming"})
    monkeypatch.setattr("rekindle.runtime.assemble.session", lambda *_: pytest.fail("Spark was started"))
    with pytest.raises(JobError, match="the job folder cannot be used: ") as caught:
        environment.execute_sql("SELECT * FROM (VALUES (1)) AS t (a)")
    assert caught.value.where == str(path)


def test_a_disk_that_is_full_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = TableEnvironment.create({"execution.job-dir": str(tmp_path / "job")})

    def full(number: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(RekindleError, match="No space left on device") as caught:
        environment.execute_sql("SELECT * FROM (VALUES (1)) AS t (a)")
    assert "Free some space" in (caught.value.hint or "")
    assert os.listdir(tmp_path / "job") == ["lock"]


def test_other_errors_are_not_about_the_disk() -> None:
    assert of_disk(OSError(errno.EPIPE, "Broken pipe")) is None
    assert of_disk(ValueError("no")) is None


def test_a_process_killed_while_it_opened_the_folder(tmp_path: Path) -> None:
    first = JobFolder(tmp_path / "job").enrol("early")
    assert JobFolder(tmp_path / "job").open("{}", "sales").job_id == first.job_id
    assert JobFolder(tmp_path / "job").identity().name == "sales"


def test_job_folders_are_for_their_owner(tmp_path: Path) -> None:
    folder = JobFolder(tmp_path / "job")
    folder.acquire()
    folder.release()
    folder.open("{}", "sales")
    Status.now(State.STOPPED).write(tmp_path / "job")
    made = [tmp_path / "job", *(tmp_path / "job").iterdir()]
    assert [each.name for each in made if each.stat().st_mode & 0o077] == []


def test_a_failed_start_is_remembered(tmp_path: Path) -> None:
    environment = TableEnvironment.create(
        {"execution.job-dir": str(tmp_path / "job"), "execution.state-recovery.path": str(tmp_path / "none")}
    )
    with pytest.raises(RekindleError, match="no savepoint"):
        environment.execute_sql("SELECT * FROM (VALUES (1)) AS t (a)")
    status = read_status(tmp_path / "job")
    assert status is not None
    assert (status.state, status.pid) == (State.FAILED, os.getpid())


@pytest.mark.parametrize(
    ("pid", "state"),
    [(os.getpid(), State.STARTING), (0, State.CRASHED), (2**22 + 1, State.CRASHED)],
    ids=["this process", "none", "gone"],
)
def test_a_start_is_one_as_long_as_somebody_is_at_it(pid: int, state: State) -> None:
    assert state_of(Status(State.STARTING, 0, pid), alive=False) is state
