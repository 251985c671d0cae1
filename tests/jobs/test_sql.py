"""SHOW JOBS, DESCRIBE JOB, STOP JOB over jobs of other processes."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from execnodes.core.errors import Position, RekindleError, StateError
from rekindle.api.table_environment import TableEnvironment
from rekindle.jobs.home import job_info
from rekindle.jobs.status import State, Status
from tests.jobs.fake import running


@pytest.fixture
def environment(tmp_path: Path) -> TableEnvironment:
    return TableEnvironment.create({"execution.jobs-dir": str(tmp_path / "jobs")})


def test_show_and_describe(environment: TableEnvironment, tmp_path: Path) -> None:
    assert environment.execute_sql("SHOW JOBS").rows == []
    with running(tmp_path / "jobs" / "a") as (fake, _):
        result = environment.execute_sql("SHOW JOBS")
        assert result.columns == ("job id", "job name", "status", "start time")
        [row] = result.rows
        assert row[:3] == (fake.job_id, "fake", "RUNNING")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}", row[3])
        described = environment.execute_sql(f"DESCRIBE JOB '{fake.job_id}'")
        assert (described.columns, described.rows) == (result.columns, [row])
        fake.end(StateError("broken"))
        described = environment.execute_sql(f"DESCRIBE JOB '{fake.job_id}'")
        assert described.columns == (*result.columns, "rows", "error")
        assert described.rows == [(fake.job_id, "fake", "FAILED", row[3], 7, "broken")]


@pytest.mark.parametrize("drain", [True, False])
def test_stop_with_savepoint(environment: TableEnvironment, tmp_path: Path, drain: bool) -> None:
    environment.execute_sql(f"SET 'execution.checkpointing.savepoint-directory' = '{tmp_path}/saved'")
    (tmp_path / "saved").mkdir()
    with running(tmp_path / "jobs" / "a") as (fake, job):
        tail = " WITH DRAIN" if drain else ""
        result = environment.execute_sql(f"STOP JOB '{fake.job_id}' WITH SAVEPOINT{tail}")
        assert result.columns == ("savepoint path",)
        [(path,)] = result.rows
        assert Path(path).parent == tmp_path / "saved"
        assert Path(path).is_dir()
        assert job_info(job.folder).state is State.STOPPED
        assert fake.drained is drain


def test_stop_without_savepoint(environment: TableEnvironment, tmp_path: Path) -> None:
    with running(tmp_path / "jobs" / "a") as (fake, job):
        assert environment.execute_sql(f"STOP JOB '{fake.job_id}'").message == "OK"
        assert job_info(job.folder).state is State.STOPPED


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("DESCRIBE JOB 'nope'", "there is no job 'nope'"),
        ("STOP JOB 'nope'", "there is no job 'nope'"),
        ("STOP JOB 'fake' WITH SAVEPOINT", "it is not known where the savepoint goes"),
        ("STOP JOB 'fake'", "the job does not run: it is FINISHED"),
        ("STOP JOB 'fake' WITH DRAIN", "WITH DRAIN goes only with a savepoint"),
    ],
)
def test_what_is_refused_names_its_place(
    environment: TableEnvironment, tmp_path: Path, statement: str, message: str
) -> None:
    with running(tmp_path / "jobs" / "a") as (fake, job):
        fake.end(None)
        assert Status.now(State.FINISHED).state is job_info(job.folder).state
    with pytest.raises(RekindleError) as caught:
        environment.execute_sql(statement)
    assert caught.value.message == message
    assert isinstance(caught.value.position, Position)
