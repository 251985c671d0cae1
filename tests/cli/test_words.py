"""Errors lead to what works: commands on the command line, batch mode for what streams do not run, names that exist."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import rekindle
from execnodes.core.errors import ConnectorError, PlanError, SqlError
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli.errors import describe_error, in_words_of_the_command_line
from rekindle.connectors.registry import find_sink, find_source

ROOT = Path(__file__).parents[2]
TABLE = (
    "CREATE TABLE t (k STRING, v INT, ts TIMESTAMP(3), WATERMARK FOR ts AS ts) WITH ('connector' = '{connector}'{more})"
)
ONLY_IN_BATCH = [
    "SELECT k FROM t ORDER BY v",
    "SELECT k, CUME_DIST() OVER (PARTITION BY k ORDER BY ts) FROM t",
    "SELECT k, PERCENT_RANK() OVER (PARTITION BY k ORDER BY v) FROM t",
]


def texts() -> list[tuple[str, str]]:
    """Every text of the sources that tells people something, without docstrings."""
    found = []
    for path in sorted(
        path for house in ("execnodes", "planner", "plans", "rekindle") for path in (ROOT / house).rglob("*.py")
    ):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        told = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
        for node in ast.walk(tree):
            if isinstance(node, ast.JoinedStr):
                text = "".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values)
                told |= {id(part) for part in node.values}
            elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
                text = node.value
            else:
                continue
            if id(node) not in told:
                found.append((str(path.relative_to(ROOT)), text))
    return found


def test_no_message_names_a_clause_of_sql_on_the_command_line() -> None:
    named = [(path, text) for path, text in texts() if "COMPILE PLAN" in text and "cli/errors.py" not in path]
    assert len(named) > 4
    for path, text in named:
        assert "COMPILE PLAN" not in in_words_of_the_command_line(text), path


def test_the_command_line_speaks_of_its_options() -> None:
    error = PlanError(
        "old", hint="Migrate it: COMPILE PLAN 'new.json' FROM 'old.json', or rekindle upgrade old.json -o new.json."
    )
    assert list(describe_error(error))[-1] == "  hint: Migrate it: rekindle upgrade old.json -o new.json."
    made = in_words_of_the_command_line("Make it: COMPILE PLAN 'jobs/a.json' FOR INSERT …")
    assert made == "Make it: rekindle compile -f SCRIPT -o jobs/a.json"


@pytest.mark.parametrize("sql", ONLY_IN_BATCH)
def test_what_streams_do_not_run_is_led_to_batch_mode_which_does(sql: str) -> None:
    environment = TableEnvironment.create()
    environment.execute_sql(TABLE.format(connector="datagen", more=", 'number-of-rows' = '5'"))
    with pytest.raises(SqlError) as caught:
        environment.sql_query(sql).compile_plan()
    assert caught.value.hint is not None
    key, value = caught.value.hint.partition("SET '")[2].partition("'.")[0].split("' = '")
    environment.execute_sql(f"SET '{key}' = '{value}'")
    assert environment.sql_query(sql).compile_plan().graph.batch


@pytest.mark.parametrize("find", [find_source, find_sink])
def test_an_unknown_connector_is_told_of_the_way_through_spark(find: object) -> None:
    assert callable(find)
    with pytest.raises(ConnectorError) as caught:
        find("kafka")
    assert "'connector' = 'spark'" in (caught.value.hint or "")
    assert find("spark").identifier == "spark"


def test_functions_are_listed_whatever_the_case() -> None:
    environment = TableEnvironment.create()

    def names(like: str) -> list[object]:
        return [name for _, (name,) in environment.execute_sql(f"SHOW FUNCTIONS {like}").collect_changes()]

    assert names("ILIKE 'UPP%'") == names("LIKE 'upp%'") == ["upper"]
    assert names("LIKE 'UPP%'") == []


def test_the_public_names_load_no_spark() -> None:
    code = (
        "import sys, rekindle\n"
        "from rekindle import TableEnvironment\n"
        "made = [getattr(rekindle, name) for name in rekindle.__all__]\n"
        "TableEnvironment.create().execute_sql('CREATE VIEW v AS SELECT 1 AS x')\n"
        "assert len(set(map(id, made))) == len(made)\n"
        "print(sorted({each.partition('.')[0] for each in sys.modules} & {'pyspark', 'polars', 'pandas', 'pyarrow'}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=ROOT)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        getattr(rekindle, "noth" + "ing")
