"""The life of a job: whatever goes wrong while it ends, nobody waits for ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from execnodes.core.errors import JobError, RekindleError
from execnodes.core.options import Configuration
from rekindle.api.table_environment import TableEnvironment
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.runtime.batch_job import BatchJob


class Ending(BatchJob):
    """Without Spark: it begins and ends at once, and trips over its own feet."""

    def _begin(self) -> None:
        return

    def _outcome(self) -> RekindleError | None:
        return None

    def _let_go(self) -> None:
        raise SystemExit("tripped")


def compiled() -> CompiledPlan:
    environment = TableEnvironment.create({"execution.runtime-mode": "batch"})
    environment.execute_sql("CREATE TABLE o (x INT) WITH ('connector' = 'blackhole')")
    return environment.compile_plan_sql("INSERT INTO o VALUES (1)")


def test_a_job_that_fails_while_it_lets_go_has_ended_and_failed(tmp_path: Path) -> None:
    plan = compiled()
    configuration = Configuration({"execution.job-dir": str(tmp_path / "job")})
    job = Ending(plan.graph, plan.as_json_string(), configuration).start()
    with pytest.raises(JobError, match="tripped"):
        job.wait(20)
    assert str(job.status.state) == "FAILED"
