"""Spark starts while somebody types; what is set before the first query still counts."""

from __future__ import annotations

import subprocess
import sys

import pytest

from execnodes.core.options import Configuration
from rekindle.cli import warm_up

SCRIPT = """
from execnodes.core.options import Configuration
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli.warm_up import start_warm_up
from rekindle.spark.session import session

start_warm_up(Configuration({"spark.driver.memory": "600m"})).join()
warm = session()
environment = TableEnvironment.create({"spark.driver.memory": "600m", "spark.sql.shuffle.partitions": "3"})
print("kept", [list(row) for _, row in environment.execute_sql("SELECT 1").collect_changes()], session() is not None)
assert session().sparkContext is warm.sparkContext

from rekindle.spark import session as module

module._warmed_up.add(str(warm.sparkContext.applicationId))
environment.execute_sql("SET 'spark.driver.memory' = '700m'")
print("again", [list(row) for _, row in environment.execute_sql("SELECT 2").collect_changes()])
print(session().conf.get("spark.driver.memory"))
"""


@pytest.mark.spark
@pytest.mark.long
def test_settings_of_the_first_query_win_over_those_of_the_warm_up() -> None:
    """Of a Java process in its own process: a session that was warmed up is kept, or started again."""
    ran = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=300, check=False)
    assert ran.stdout.splitlines() == ["kept [[1]] True", "again [[2]]", "700m"], ran.stderr


def test_a_warm_up_that_fails_leaves_the_error_to_the_first_query(capsys: pytest.CaptureFixture[str]) -> None:
    warm_up.start_warm_up(Configuration({"spark.sql.session.timeZone": "Asia/Tokyo"})).join(60)
    shown = capsys.readouterr()
    assert shown.out + shown.err == ""
