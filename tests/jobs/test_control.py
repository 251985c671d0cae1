"""What other processes ask of a job, with a job that is none behind it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from execnodes.core.errors import JobError, StateError
from rekindle.jobs import control
from rekindle.jobs.home import job_info
from rekindle.jobs.requests import REQUEST
from rekindle.jobs.status import State, Status
from tests.jobs.fake import Fake, running


def refuse(target: Path) -> None:
    raise StateError("no micro-batch has been committed yet", where=str(target), hint="Try again later.")


def test_a_savepoint_of_a_running_job(tmp_path: Path) -> None:
    with running(tmp_path / "job") as (_, job):
        assert job.state is State.RUNNING
        assert control.ask_for_savepoint(job, tmp_path / "s", 10)
        assert (tmp_path / "s").is_dir()
        assert job_info(job.folder).state is State.RUNNING
        assert not list(job.folder.glob("re[qs]*.json"))


@pytest.mark.parametrize("state", [State.STOPPED, State.CANCELED])
@pytest.mark.parametrize("drain", [True, False])
def test_stop_and_cancel(tmp_path: Path, state: State, drain: bool) -> None:
    with running(tmp_path / "job") as (fake, job):
        ended = control.ask_to_stop(job, state, savepoint=tmp_path / "s", drain=drain, timeout=10)
        assert (ended.state, ended.savepoint) == (state, str(tmp_path / "s"))
        assert fake.drained is drain
        assert ended.rows == 7


def test_what_the_job_refuses_is_said_and_it_goes_on(tmp_path: Path) -> None:
    with running(tmp_path / "job", refuse) as (_, job):
        with pytest.raises(JobError) as caught:
            control.ask_for_savepoint(job, tmp_path / "s", 10)
        assert (caught.value.message, caught.value.hint) == (
            "no micro-batch has been committed yet",
            "Try again later.",
        )
        (tmp_path / "there").mkdir()
        with pytest.raises(JobError, match="the folder exists already"):
            control.ask_to_stop(job, State.STOPPED, savepoint=tmp_path / "there", timeout=10)
        assert job_info(job.folder).state is State.RUNNING


def test_a_savepoint_that_fails_while_stopping_fails_the_job(tmp_path: Path) -> None:
    with running(tmp_path / "job", refuse) as (_, job):
        with pytest.raises(JobError, match="no micro-batch has been committed yet"):
            control.ask_to_stop(job, State.STOPPED, savepoint=tmp_path / "s", timeout=10)
        assert job_info(job.folder).state is State.FAILED


def test_a_job_that_has_ended_is_told_so(tmp_path: Path) -> None:
    with running(tmp_path / "job") as (fake, _):
        fake.end(None)
        ended = job_info(tmp_path / "job")
        assert ended.state is State.FINISHED
        with pytest.raises(JobError) as caught:
            control.ask_to_stop(ended, State.STOPPED, timeout=10)
        assert caught.value.message == "the job does not run: it is FINISHED"
        assert f"--job-dir {ended.folder}" in (caught.value.hint or "")


@pytest.mark.parametrize(
    ("end", "message"),
    [
        (lambda fake: fake.end(StateError("broken", hint="Mend it.")), "the job has failed: broken"),
        (lambda fake: fake.folder.release(), "the job's process has gone"),
    ],
)
def test_a_job_that_ends_before_it_answers(tmp_path: Path, end: Callable[[Fake], None], message: str) -> None:
    fake = Fake(tmp_path / "job", Path.mkdir)  # Its attendant does not listen.
    Status.now(State.RUNNING).write(tmp_path / "job")
    job = job_info(tmp_path / "job")
    timer = threading.Timer(0.3, end, [fake])
    timer.start()
    with pytest.raises(JobError) as caught:
        control.ask_to_stop(job, State.STOPPED, timeout=10)
    timer.join()
    assert caught.value.message == message


def test_a_request_that_nobody_takes_is_withdrawn(tmp_path: Path) -> None:
    fake = Fake(tmp_path / "job", Path.mkdir)  # Its attendant does not listen.
    Status.now(State.RUNNING).write(tmp_path / "job")
    with pytest.raises(JobError, match=r"the job has not taken the request after 0\.3 s; it is withdrawn"):
        control.ask_to_stop(job_info(tmp_path / "job"), State.STOPPED, timeout=0.3)
    assert not (tmp_path / "job" / REQUEST).exists()
    fake.end(None)


def test_a_job_that_takes_its_time(tmp_path: Path) -> None:
    release = threading.Event()
    with running(tmp_path / "job", lambda target: release.wait(10)) as (_, job):
        with pytest.raises(JobError, match="it goes on with what it was asked for"):
            control.ask_for_savepoint(job, tmp_path / "s", 1.0)
        release.set()
