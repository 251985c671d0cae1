"""The pytest plugin on the examples of docs/testing.md: fixtures are added, never overwritten; plans are compared."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

from rekindle.api.table_environment import TableEnvironment
from tests.completeness.tree import module_name, sources

PAGE = Path(__file__).parents[2] / "docs" / "testing.md"
RESTORE, PLAN = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
SCRIPT = """
CREATE TABLE orders (region STRING, pieces INT) WITH ('connector' = 'datagen');
CREATE TABLE sales (region STRING, pieces INT) WITH ('connector' = 'blackhole');
INSERT INTO sales SELECT region, pieces FROM orders WHERE pieces > 1;
"""


@pytest.fixture(scope="module", autouse=True)
def everything_is_imported() -> None:
    """What inner runs import is forgotten after them, and some modules cannot be imported twice."""
    for path in sources():
        if path.name != "__main__.py":
            importlib.import_module(module_name(path))


@pytest.fixture
def inner(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """Without the settings and the plugins of our own project."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makeini("[pytest]")
    return pytester


def run(inner: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return inner.runpytest_inprocess("-p", "rekindle.testing.plugin", "-p", "no:cacheprovider", *arguments)


def test_the_plan_of_a_script_is_compared(inner: pytest.Pytester) -> None:
    inner.makepyfile(PLAN)
    script, plan = inner.path / "sales.sql", inner.path / "sales.json"
    script.write_text(SCRIPT)
    missing = run(inner)
    missing.assert_outcomes(failed=1)
    missing.stdout.fnmatch_lines(["*there is no plan *sales.json: run pytest --update-plans"])
    assert not plan.exists()
    run(inner, "--update-plans").assert_outcomes(passed=1)
    before = plan.read_text()
    run(inner).assert_outcomes(passed=1)
    script.write_text(SCRIPT.replace("> 1", "> 2"))
    changed = run(inner)
    changed.assert_outcomes(failed=1)
    changed.stdout.fnmatch_lines(["*condition: $>$1(#1, 1) -> $>$1(#1, 2)*"])
    assert plan.read_text() == before
    run(inner, "--update-plans").assert_outcomes(passed=1)
    assert plan.read_text() != before
    run(inner).assert_outcomes(passed=1)


def test_a_missing_fixture_starts_no_spark(inner: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    def unwanted(*_: object) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr("rekindle.spark.session.session", unwanted)
    inner.makepyfile(RESTORE)
    done = run(inner)
    done.assert_outcomes(failed=1)
    done.stdout.fnmatch_lines(["*sales has no fixture *restore_fixtures/sales: run pytest --write-restore-fixtures"])


@pytest.mark.spark
def test_a_program_of_ten_lines(inner: pytest.Pytester, spark: object) -> None:
    """Written, kept, gone on from; wrong rows fail; what is compiled today goes on, if it means the same."""
    wrong = RESTORE.replace('["north", 5]', '["north", 6]')
    inner.makepyfile(test_wrong=wrong)
    failing = run(inner, "--write-restore-fixtures", "test_wrong.py")
    failing.assert_outcomes(failed=1)
    failing.stdout.fnmatch_lines(["*sales gives other rows than it says*", '*- [[]"north", 6]*', '*+ [[]"north", 5]*'])
    fixture = inner.path / "restore_fixtures" / "sales"
    assert not fixture.exists()

    inner.makepyfile(test_sales=RESTORE)
    run(inner, "--write-restore-fixtures", "test_sales.py").assert_outcomes(passed=1)
    assert sorted(each.name for each in fixture.iterdir()) == ["before.json", "expected.json", "plan.json", "savepoint"]
    written = {each: each.read_bytes() for each in fixture.rglob("*") if each.is_file()}

    today = RESTORE.replace("assert_restores(SALES)", "assert_restores(SALES, recompiled=True)")
    inner.makepyfile(test_renamed=today.replace("AS pieces FROM", "AS total FROM"))
    inner.makepyfile(test_max=today.replace("SUM(", "MAX("))
    both = run(inner, "--write-restore-fixtures", "test_renamed.py", "test_max.py", "test_wrong.py")
    both.assert_outcomes(passed=1, failed=2)
    both.stdout.fnmatch_lines(["*function: SUM(orders.pieces) -> MAX(orders.pieces)*"])
    assert {each: each.read_bytes() for each in fixture.rglob("*") if each.is_file()} == written


DEPLOYED = """
CREATE TABLE orders (region STRING, pieces INT) WITH ('connector' = 'datagen');
CREATE TABLE sales (region STRING, pieces INT, PRIMARY KEY (region) NOT ENFORCED) WITH ('connector' = 'blackhole');
INSERT INTO sales SELECT region, SUM(pieces) FROM orders GROUP BY region;
"""
OF_A_PLAN = """
from pathlib import Path
from rekindle.testing import RestoreProgram, lines

TABLES = '''
CREATE TABLE orders (region STRING, pieces INT)
  WITH ('connector' = 'filesystem', 'path' = '${dir}/orders', 'format' = 'json');
CREATE TABLE sales (region STRING, pieces INT, PRIMARY KEY (region) NOT ENFORCED) WITH ('connector' = 'print');
'''
SALES = RestoreProgram(
    "sales",
    TABLES,
    plan=Path(__file__).with_name("sales.json"),
    before={"orders/0.json": lines("region pieces", '"north" 3', '"south" 1')},
    after={"orders/1.json": lines("region pieces", '"north" 2')},
    rows_before={"sales": [["north", 3], ["south", 1]]},
    rows_after={"sales": [["north", 5], ["south", 1]]},
)

def test_sales_goes_on(assert_restores):
    assert_restores(SALES)
"""


@pytest.mark.spark
def test_a_plan_that_is_there(inner: pytest.Pytester, spark: object) -> None:
    """Its own tables are replaced by those of the test."""
    plan = inner.path / "sales.json"
    TableEnvironment.create().compile_script(DEPLOYED).write_to_file(plan)
    inner.makepyfile(test_sales=OF_A_PLAN)
    run(inner, "--write-restore-fixtures").assert_outcomes(passed=1)
    assert (inner.path / "restore_fixtures" / "sales" / "plan.json").read_text() == plan.read_text()
