"""What has no savepoint says so: batch jobs, and jobs that have never run."""

from __future__ import annotations

from pathlib import Path

import pytest

from execnodes.core.errors import JobError, StateError
from execnodes.core.options import Configuration
from rekindle.api.table_environment import TableEnvironment
from rekindle.files.job_folder import JobFolder
from rekindle.jobs.home import job_info
from rekindle.jobs.savepoint import take_savepoint
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.runtime.batch_job import job_of

SCRIPT = """
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json');
CREATE TABLE u (k STRING, s INT) WITH ('connector' = 'print');
INSERT INTO u SELECT k, v FROM t;
"""


def plan(mode: str) -> CompiledPlan:
    return TableEnvironment.create({"execution.runtime-mode": mode}).compile_script(SCRIPT)


@pytest.mark.parametrize(
    ("mode", "says"), [("batch", "a batch job keeps no state"), ("streaming", "the job has never run")]
)
def test_there_is_nothing_to_save(tmp_path: Path, mode: str, says: str) -> None:
    folder = JobFolder(tmp_path / "job")
    folder.acquire()
    folder.open(plan(mode).as_json_string(), "")
    folder.release()
    with pytest.raises(JobError, match=says):
        take_savepoint(job_info(folder.path), tmp_path / "savepoint")
    assert not (tmp_path / "savepoint").exists()


def test_a_batch_plan_starts_from_no_savepoint(tmp_path: Path) -> None:
    configuration = Configuration()
    configuration.put("execution.state-recovery.path", str(tmp_path))
    batch = plan("batch")
    with pytest.raises(StateError, match="a batch plan keeps no state, so it starts from no savepoint"):
        job_of(batch.graph, batch.as_json_string(), configuration)
