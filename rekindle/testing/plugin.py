"""The pytest plugin: restore tests and plan tests of one's own programs; loaded by itself where Rekindle is installed.

Nothing of Spark is imported before a test asks for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from execnodes.core.errors import RekindleError
from rekindle.files.paths import local_path
from rekindle.testing.restore_program import RestoreProgram

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

FIXTURES = "restore_fixtures"
"""Folder beside a test file."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("rekindle", "Rekindle: plans and savepoints")
    group.addoption(
        "--write-restore-fixtures",
        action="store_true",
        help="Write the fixtures that restore tests lack; those that are there stay as they are.",
    )
    group.addoption("--update-plans", action="store_true", help="Write the plans that plan tests compare with.")


@pytest.fixture(scope="session")
def rekindle_spark() -> Iterator[SparkSession]:
    """The Spark session restore tests run in: the active one, or one for the process. Override it to have another."""
    from pyspark.sql import SparkSession

    from rekindle.spark.session import SMALL_PROGRAMS, session

    active = SparkSession.getActiveSession()
    made = session(2, {"spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "2", **SMALL_PROGRAMS})
    yield made
    if active is None:
        made.stop()


@dataclass(frozen=True)
class Restores:
    """What `assert_restores` is; call it."""

    request: pytest.FixtureRequest
    folder: Path
    writing: bool

    def __call__(self, program: RestoreProgram, fixture: Path | None = None, *, recompiled: bool = False) -> None:
        """Go on from the program's savepoint with the plan that took it, and compare the rows.

        With `recompiled` it is today's plan that goes on. `fixture` is a folder; else it lies below
        `restore_fixtures` beside the test.
        """
        from rekindle.testing.restore_fixtures import go_on, write

        __tracebackhide__ = True
        where = fixture or self.request.path.parent / FIXTURES / program.name
        if not where.is_dir() and not self.writing:
            pytest.fail(f"{program} has no fixture {where}: run pytest --write-restore-fixtures", pytrace=False)
        spark: SparkSession = self.request.getfixturevalue("rekindle_spark")
        problems = [] if where.is_dir() else write(spark, program, where)
        if problems:
            pytest.fail("\n".join([f"{program} gives other rows than it says", *problems]), pytrace=False)
        self.folder.mkdir(exist_ok=True)
        try:
            problems = go_on(spark, program, where, self.folder, recompiled=recompiled)
        except RekindleError as error:
            if program.refused and program.refused in str(error):
                return
            raise
        if program.refused:
            pytest.fail(f"{program} is not refused: {program.refused}", pytrace=False)
        if problems:
            pytest.fail("\n".join([f"{program} gives other rows after {where}", *problems]), pytrace=False)


@pytest.fixture
def assert_restores(request: pytest.FixtureRequest, tmp_path: Path) -> Restores:
    """Says whether programs go on from the savepoints of their fixtures: ``assert_restores(program)``."""
    writing = bool(request.config.getoption("write_restore_fixtures"))
    return Restores(request, tmp_path / "program", writing)


@dataclass(frozen=True)
class SamePlan:
    """What `assert_plan` is; call it."""

    folder: Path
    updating: bool

    def __call__(self, script: str | Path, plan: str | Path) -> None:
        """Compile a script (text, or a file relative to the test) and compare with a plan file (relative, too)."""
        from plans.evolution.diff import difference
        from rekindle.api.table_environment import TableEnvironment
        from rekindle.report.texts import difference_lines
        from rekindle.results.compiled_plan import CompiledPlan

        __tracebackhide__ = True
        text = (self.folder / local_path(script)).read_text(encoding="utf-8") if isinstance(script, Path) else script
        found = TableEnvironment.create().compile_script(text)
        file = self.folder / local_path(plan)
        if self.updating:
            found.write_to_file(file, force=True)
            return
        if not file.is_file():
            pytest.fail(f"there is no plan {file}: run pytest --update-plans", pytrace=False)
        before = CompiledPlan.from_file(file)
        if before.as_json_string() == found.as_json_string():
            return
        shown = list(difference_lines(difference(before.graph, found.graph)))
        hint = "If that is meant: rekindle check says what it does to state, pytest --update-plans writes the plan."
        pytest.fail("\n".join([f"{file} is not what the script compiles to now", *shown, hint]), pytrace=False)


@pytest.fixture
def assert_plan(request: pytest.FixtureRequest) -> SamePlan:
    """Says whether a script still compiles to a plan file: ``assert_plan(Path("sales.sql"), "plans/sales.json")``."""
    return SamePlan(request.path.parent, bool(request.config.getoption("update_plans")))
