"""What a job folder says of its job."""

from __future__ import annotations

from pathlib import Path

import pytest

from execnodes.core.errors import JobError, Position, SqlError
from rekindle.files.job_folder import JobFolder
from rekindle.jobs.status import (
    STATUS,
    State,
    Status,
    Trouble,
    is_alive,
    read_progress,
    read_status,
    state_of,
    write_progress,
)
from rekindle.runtime.progress import Progress


@pytest.mark.parametrize(
    ("said", "alive", "expected"),
    [
        (State.RUNNING, True, State.RUNNING),
        (State.RUNNING, False, State.CRASHED),
        (None, True, State.STARTING),
        (None, False, State.CRASHED),
        (State.STOPPED, True, State.STARTING),
        *((state, False, state) for state in (State.STOPPED, State.CANCELED, State.FINISHED, State.FAILED)),
    ],
)
def test_a_job_that_says_it_runs_must_hold_its_folder(said: State | None, alive: bool, expected: State) -> None:
    status = Status(said, 0, 1) if said is not None else None
    assert state_of(status, alive=alive) is expected


def test_status_comes_back_as_it_was_written(tmp_path: Path) -> None:
    assert read_status(tmp_path) is None
    error = SqlError("no such thing", position=Position(2, 3), hint="Look.")
    written = Status.now(State.FAILED, savepoint=tmp_path / "s", error=error)
    written.write(tmp_path)
    assert read_status(tmp_path) == written
    assert written.error == Trouble("no such thing", "line 2, column 3", "Look.")


def test_defects_are_named() -> None:
    assert Trouble.of(ZeroDivisionError("oops")) == Trouble("unexpected ZeroDivisionError: oops")


def test_a_broken_status_names_the_file(tmp_path: Path) -> None:
    (tmp_path / STATUS).write_text("{")
    with pytest.raises(JobError) as caught:
        read_status(tmp_path)
    assert caught.value.where == str(tmp_path / STATUS)


def test_progress(tmp_path: Path) -> None:
    assert read_progress(tmp_path) == {}
    write_progress(tmp_path, Progress(3, 10, 2.5, None, {"1_a__s": 4}, {}))
    found = read_progress(tmp_path)
    assert (found["batch_id"], found["rows"], found["state_rows"]) == (3, 10, {"1_a__s": 4})


def test_the_lock_tells_who_is_alive(tmp_path: Path) -> None:
    assert not is_alive(tmp_path)
    folder = JobFolder(tmp_path)
    folder.acquire()
    assert is_alive(tmp_path)
    with pytest.raises(JobError, match="the job runs already, in process"):
        JobFolder(tmp_path).acquire()
    folder.release()
    assert not is_alive(tmp_path)
    JobFolder(tmp_path).acquire()
