"""Spark generates code only where rows are many enough: few are run interpreted, in streams and in batches."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from rekindle.api.table_environment import TableEnvironment
from rekindle.engine.inputs import FEW_BYTES
from rekindle.spark.generated_code import INTERPRETED, GeneratedCode

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WHOLE_STAGE, FACTORY = INTERPRETED


class FakeSession:
    """A session as far as settings go."""

    def __init__(self) -> None:
        self.settings = {WHOLE_STAGE: "true", FACTORY: "FALLBACK"}
        self.conf = self

    def get(self, key: str) -> str:
        return self.settings[key]

    def set(self, key: str, value: str) -> None:
        self.settings[key] = value


def generates(session: Any) -> bool:
    return bool(session.conf.get(WHOLE_STAGE) == "true" and session.conf.get(FACTORY) != "NO_CODEGEN")


def test_code_is_generated_as_long_as_one_job_of_the_session_wants_it() -> None:
    session: Any = FakeSession()
    small, large = GeneratedCode(session, {}), GeneratedCode(session, {})
    small.want(False)
    assert not generates(session)
    large.want(True)
    small.want(False)
    assert generates(session)
    large.close()
    small.want(False)
    assert not generates(session)


def test_settings_of_the_session_come_back() -> None:
    session: Any = FakeSession()
    session.settings[FACTORY] = "CODEGEN_ONLY"
    code = GeneratedCode(session, {})
    code.want(False)
    code.want(True)
    assert session.settings == {WHOLE_STAGE: "true", FACTORY: "CODEGEN_ONLY"}


def test_a_setting_of_the_job_decides_alone() -> None:
    session: Any = FakeSession()
    GeneratedCode(session, {WHOLE_STAGE: "true"}).want(False)
    assert generates(session)


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["streaming", "batch"])
def test_only_few_rows_are_interpreted(
    mode: str, tmp_path: Path, spark: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what sessions jobs run in: the number of their stages of generated code says whether there is any."""
    found = []
    rows = '{"k": 1, "v": 2}\n'
    for name, count in (("few", 10), ("many", 2 * FEW_BYTES // len(rows))):
        (tmp_path / name).write_text(rows * count)
        environment = TableEnvironment.create({"execution.runtime-mode": mode}, spark=spark)
        environment.execute_sql(
            f"CREATE TABLE t (k INT, v INT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path / name}',"
            " 'format' = 'json')"
        )
        seen = watch(monkeypatch)
        with environment.execute_sql("SELECT k + 1, SUM(v) FROM t WHERE v > 0 GROUP BY k + 1").collect() as result:
            assert [tuple(each) for each in result][-1] == (2, 2 * count)
        found.append(seen)
    assert not any(found[0])
    assert any(found[1])


def watch(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether the session of each plan that is run generates code."""
    from pyspark.sql.classic.dataframe import DataFrame

    seen: list[bool] = []
    monkeypatch.undo()
    for name in ("toArrow", "collect"):
        run = getattr(DataFrame, name)

        def watched(frame: DataFrame, run: Any = run) -> Any:
            seen.append(generates(frame.sparkSession))
            return run(frame)

        monkeypatch.setattr(DataFrame, name, watched)
    return seen
