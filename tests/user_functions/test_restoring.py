"""A running job's accumulators evolve: the same plan, another class, from a savepoint."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from plans.compatibility.user_functions import with_accumulators
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.collect import clear, results
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.runtime.stream_job import StreamJob
from rekindle.savepoints.contents import read
from rekindle.savepoints.reader import SavepointReader
from rekindle.testing import RestoreProgram, lines
from rekindle.testing.restore_run import Compiled, compiled, put, rows, run
from tests.user_functions import evolving

PROGRAM = RestoreProgram(
    "evolved",
    f"""CREATE FUNCTION total AS '{evolving.__name__}:Total' LANGUAGE PYTHON;
    CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '${{dir}}/t', 'format' = 'json');
    """,
    {"out": "SELECT k, TOTAL(v) AS s FROM t GROUP BY k"},
    {"t/0.json": lines("k v", '"a" 1', '"a" 2', '"b" 5')},
    {"t/1.json": lines("k v", '"a" 10', '"c" 7')},
)


def _now(made: Compiled) -> Any:
    """The graph with today's accumulators, as an environment gives it to a job."""
    return with_accumulators(made.plan.graph, made.environment.functions_of(made.plan.graph))


@pytest.mark.spark
def test_fields_come_and_go_over_a_savepoint(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    put(PROGRAM.before, tmp_path, 0)
    made = compiled(PROGRAM, tmp_path)
    before = run(spark, PROGRAM, made, made.plan.graph, folder=tmp_path, target=tmp_path / "savepoint")
    monkeypatch.setattr(evolving, "Total", evolving.EvolvedTotal)
    put(PROGRAM.after, tmp_path, 1)
    made = compiled(PROGRAM, tmp_path)
    with caplog.at_level(logging.INFO, logger="rekindle.savepoints"):
        later = run(
            spark,
            PROGRAM,
            made,
            _now(made),
            folder=tmp_path,
            savepoint=tmp_path / "savepoint",
            target=tmp_path / "next",
        )
    (step,) = read(tmp_path / "next").history
    assert (step.operation, step.rows_before, len(step.schema_before)) == ("convert", 2, 3)
    assert "(fields added count and removed gone), 2 rows" in caplog.text
    given = {name: before[name] + changes for name, changes in later.items()}
    assert sorted(rows(made, given)["out"]) == [["a", 13], ["b", 5], ["c", 7]]


@pytest.mark.spark
def test_a_job_goes_on_in_its_own_folder(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(PROGRAM.before, tmp_path, 0)
    until(spark, tmp_path, 3, tmp_path / "first")
    monkeypatch.setattr(evolving, "Total", evolving.EvolvedTotal)
    put(PROGRAM.after, tmp_path, 1)
    until(spark, tmp_path, 2, tmp_path / "second")
    assert {row[0]: row[1] for kind, row in results(str(tmp_path)) if kind in (0, 2)} == {"a": 13, "b": 5, "c": 7}
    clear(str(tmp_path))
    assert [(each.operation, each.rows_after) for each in read(tmp_path / "second").history] == [("convert", 3)]
    query = f'SELECT k0, "s$count", "s$total" FROM "{UID}"."pythonGroupAggregateState" ORDER BY ALL'
    with SavepointReader.read(tmp_path / "second").query(query) as (_, found):
        assert list(found) == [("a", 101, 13), ("b", 100, 5), ("c", 101, 7)]


UID = "4_python-group-aggregate"


def until(spark: Any, folder: Path, rows: int, savepoint: Path) -> None:
    """Run the job of the folder, with the plan that it began with, until it has taken up so many rows."""
    environment = TableEnvironment.create({"execution.job-dir": str(folder / "job")}, spark=spark)
    tables = PROGRAM.sql.replace("${dir}", str(folder))
    environment.execute_script(tables.replace("'format'", "'source.monitor-interval' = '100 ms', 'format'"))
    environment.execute_sql(
        f"CREATE TABLE out (k STRING, s BIGINT) WITH ('connector' = 'collect', 'name' = '{folder}')"
    )
    kept = folder / "plan.json"
    if not kept.exists():
        environment.compile_plan_sql(f"INSERT INTO out {PROGRAM.queries['out']}").write_to_file(kept)
    plan = CompiledPlan.from_file(kept, executor=environment)
    functions = environment.functions_of(plan.graph)
    graph = with_accumulators(plan.graph, functions)
    text, options = plan.as_json_string(), environment.configuration
    job = StreamJob(graph, text, options, spark=spark, functions=functions).start()
    while (progress := job.progress()) is None or progress.rows < rows:
        assert not job.wait(0.05)
    job.stop(with_savepoint=savepoint)
