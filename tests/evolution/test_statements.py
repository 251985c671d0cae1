"""COMPILE PLAN … FROM … FOR and `rekindle compile --from`: consent, exit codes, what is written."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from plans.compatibility.compare import Comparison
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli import main
from rekindle.statements.evolution import EvolutionError
from tests.evolution.matrix import TABLES

SUM = "INSERT INTO o1 SELECT k, SUM(v) FROM t GROUP BY k"
QUERIES = {
    "old": SUM,
    "full": f"{SUM} HAVING SUM(v) > 3",
    "partial": SUM.replace("SUM", "MAX"),
    "unknown": SUM,
    "incompatible": "INSERT INTO o1 SELECT 's', COUNT(*) FROM (SELECT k, SUM(v) AS s FROM t GROUP BY k) GROUP BY s",
}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, query in QUERIES.items():
        Path(f"{name}.sql").write_text(f"{TABLES}{query};")
    assert command(monkeypatch, "compile", "-f", "old.sql", "-o", "old.json") == 0
    return tmp_path


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["rekindle", *arguments])
    try:
        main.run()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0


@pytest.mark.parametrize(
    ("query", "consent", "code"),
    [
        ("full", None, 0),
        ("full", "reject", 0),
        ("partial", None, 4),
        ("partial", "await_approval", 4),
        ("partial", "reject", 4),
        ("partial", "allow", 0),
        ("incompatible", None, 3),
        ("incompatible", "allow", 3),
        ("unknown", None, 5),
        ("unknown", "allow", 0),
        ("full", "perhaps", 1),
    ],
)
def test_exit_codes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], query: str, consent: str | None, code: int
) -> None:
    given = ["-f", f"{query}.sql", "--from", "old.json", "-o", "new.json"]
    given += ["--consent", consent] if consent else []
    given += ["-D", "table.exec.state.ttl=1 h"] if query == "unknown" else []
    assert command(monkeypatch, "compile", *given) == code
    shown = capsys.readouterr()
    assert Path("new.json").exists() == (code == 0)
    if code == 0:
        assert f"verdict: {query}" in shown.out
    elif code > 1:
        assert "_global-group-aggregate:globalGroupAggregateState: " in shown.err


def test_each_loss_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert command(monkeypatch, "compile", "-f", "partial.sql", "--from", "old.json", "-o", "new.json") == 4
    said = capsys.readouterr().err
    assert "empty: 10_global-group-aggregate:globalGroupAggregateState: " in said
    assert "drop: 6_global-group-aggregate:globalGroupAggregateState: " in said
    assert "--consent allow" in said


def test_the_statement_and_the_command_give_the_same_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert command(monkeypatch, "compile", "-f", "full.sql", "--from", "old.json", "-o", "cli.json") == 0
    environment = TableEnvironment.create()
    environment.execute_script(TABLES)
    result = environment.execute_sql(f"COMPILE PLAN 'sql.json' FROM 'old.json' FOR {QUERIES['full']}")
    note = "note: sink o1 holds rows of the old query: those that are not written again stay as they are"
    assert result.message == f"Plan written to sql.json.\nVerdict: full.\n{note}"
    assert Path("sql.json").read_bytes() == Path("cli.json").read_bytes()
    of_set = environment.create_statement_set().add_insert_sql(QUERIES["full"]).compile_plan(from_plan="old.json")
    assert of_set.as_json_string() == Path("sql.json").read_text()
    # Made from itself, a plan is the same.
    assert command(monkeypatch, "compile", "-f", "old.sql", "--from", "old.json", "-o", "same.json") == 0
    assert Path("same.json").read_bytes() == Path("old.json").read_bytes()


def test_if_not_exists_and_force() -> None:
    environment = TableEnvironment.create()
    environment.execute_script(TABLES)
    Path("new.json").write_text("{}")
    statement = f"COMPILE PLAN 'new.json' IF NOT EXISTS FROM 'old.json' FOR {QUERIES['full']}"
    assert "left as it is" in str(environment.execute_sql(statement).message)
    environment.execute_sql("SET 'table.plan.force-recompile' = 'true'")
    environment.execute_sql(statement)
    assert json.loads(Path("new.json").read_text())["nodes"]


def test_approval_is_asked_for_where_there_is_somebody() -> None:
    environment = TableEnvironment.create()
    environment.execute_script(TABLES)
    asked: list[Comparison] = []

    def approve(comparison: Comparison) -> bool:
        asked.append(comparison)
        return len(asked) > 1

    environment.approve = approve
    with pytest.raises(EvolutionError) as refused:
        environment.compile_plan_sql(QUERIES["partial"], from_plan="old.json")
    assert (refused.value.exit_code, refused.value.comparison) == (4, asked[0])
    assert environment.compile_plan_sql(QUERIES["partial"], from_plan="old.json").comparison == asked[1]
    environment.compile_plan_sql(QUERIES["full"], from_plan="old.json")
    assert len(asked) == 2, "nothing is lost, nobody is asked"


@pytest.mark.parametrize(
    ("origin", "message"),
    [("nowhere.json", "there is no such plan file"), ("full.sql", "this is not JSON"), (".", "cannot be read")],
)
def test_wrong_origins(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], origin: str, message: str
) -> None:
    assert command(monkeypatch, "compile", "-f", "full.sql", "--from", origin, "-o", "new.json") == 1
    assert message in capsys.readouterr().err
