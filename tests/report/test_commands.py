"""`rekindle diff` and `rekindle check --markdown` from outside."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from plans.compatibility.compare import Fate, Verdict
from rekindle.cli import main
from rekindle.report.advice import next_steps
from rekindle.report.checked import Checked, checked, worst
from rekindle.report.documents import checked_document
from rekindle.report.markdown import checked_markdown, escaped
from rekindle.report.signs import fate_words
from rekindle.results.compiled_plan import CompiledPlan
from tests.check.plans import JOIN, plan

SUM = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
MAX = SUM.replace("SUM", "MAX")
MORE = SUM.replace("AS s", "AS s, COUNT(w) AS c")
QUERIES = {
    "old": SUM,
    "same": SUM.replace("AS s", "AS x"),
    "max": SUM.replace("SUM", "MAX"),
    "join": JOIN.format("r.v"),
    "more": MORE,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("plans")
    for name, query in QUERIES.items():
        (made / f"{name}.json").write_text(plan(query))
    return made


def call(monkeypatch: pytest.MonkeyPatch, folder: Path, *arguments: str) -> int | str | None:
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["rekindle", *arguments])
    try:
        main.run()
    except SystemExit as ended:
        return ended.code
    return None


def of(folder: Path, new: str) -> Checked:
    before, after = ((f"{name}.json", CompiledPlan.from_file(folder / f"{name}.json").graph) for name in ("old", new))
    return checked(before, after)


def cells(markdown: str) -> list[list[str]]:
    """Rows of its table, without head and rule."""
    rows = [line for line in markdown.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


@pytest.mark.parametrize(
    ("new", "code", "verdict"),
    [("same", 0, "full"), ("max", 3, "incompatible"), ("join", 4, "partial"), ("more", 4, "partial")],
)
def test_markdown_has_every_fate_and_the_commands(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, new: str, code: int, verdict: str
) -> None:
    assert call(monkeypatch, folder, "check", "old.json", f"{new}.json", "--markdown") == code
    text = capsys.readouterr().out
    found = of(folder, new)
    assert f"{new}.json: {verdict}" in text.splitlines()[0]
    rows = cells(text)
    assert [row[1:3] for row in rows] == [[f"`{each.uid}`", f"`{each.state}`"] for each in found.comparison.judgements]
    assert [row[0].split(maxsplit=1)[1] for row in rows] == [fate_words(each) for each in found.comparison.judgements]
    assert [row[3] for row in rows] == [escaped(each.reason) for each in found.comparison.judgements]
    for step in next_steps(found):
        assert all(command in text for command in step.commands)


def test_markup_in_names_stays_text() -> None:
    assert escaped("a|b `c` <d> *e*\n_f_") == r"a\|b \`c\` &lt;d&gt; \*e\* \_f\_"


def test_commands_drop_what_does_not_fit_and_nothing_else(folder: Path) -> None:
    for new in ("same", "max", "join"):
        found = of(folder, new)
        dropped = {
            f"{each.uid}:{each.state}"
            for each in found.comparison.judgements
            if each.fate in (Fate.DROP, Fate.INCOMPATIBLE)
        }
        words = [word for step in next_steps(found) for command in step.commands for word in shlex.split(command)]
        assert {words[at + 1] for at, word in enumerate(words) if word == "--allow-drop-state"} == dropped
        assert ("stop" in words, "run" in words) == (True, True)


def test_a_loss_of_what_goes_on_is_said_and_consented_to(folder: Path) -> None:
    found = of(folder, "more")
    assert "⇄ convert, with loss" in checked_markdown(found)
    assert "-D table.plan.evolution.consent=allow" in next_steps(found)[-1].commands[-1]
    document: dict[str, Any] = checked_document(found)
    (lossy,) = (each for each in document["operators"] if "loss" in each)
    assert (lossy["state"], lossy["loss"]) == ("globalGroupAggregateState", True)


def test_the_worst_verdict_decides() -> None:
    assert worst([]) is Verdict.FULL
    assert worst([Verdict.FULL, Verdict.PARTIAL]) is Verdict.PARTIAL
    assert worst([Verdict.PARTIAL, Verdict.UNKNOWN]) is Verdict.UNKNOWN
    assert worst(Verdict) is Verdict.INCOMPATIBLE


def test_a_state_that_cannot_be_judged_is_marked(folder: Path, tmp_path: Path) -> None:
    aged = tmp_path / "aged.json"
    aged.write_text(plan(SUM, table__exec__state__ttl="1 h"))
    old = CompiledPlan.from_file(folder / "old.json").graph
    found = checked(("old.json", old), ("aged.json", CompiledPlan.from_file(aged).graph))
    assert "keep, unsure" in checked_markdown(found)


def test_diff_says_what_is_different(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    assert call(monkeypatch, folder, "diff", "old.json", "max.json", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["equal"], [each["id"] for each in found["nodes"]]) == (False, [4, 5, 6])
    call(monkeypatch, folder, "diff", "old.json", "join.json")
    lines = capsys.readouterr().out.splitlines()
    assert "+ node 8 added: stream-exec-calc_1" in lines
    assert "- edge 4 -> 5" in lines
    assert lines[-1] == "nodes: 3 same, 4 replaced, 2 added; edges: 3 added, 1 removed"
    call(monkeypatch, folder, "diff", "old.json", "max.json", "--markdown")
    assert [row[0] for row in cells(capsys.readouterr().out)] == ["4", "5", "6"]
    call(monkeypatch, folder, "diff", "old.json", "old.json")
    assert capsys.readouterr().out == "the plans are equal\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    call(monkeypatch, folder, "diff", "old.json", "join.json")
    assert "+ node 8 added: stream-exec-calc_1" in capsys.readouterr().out


@pytest.mark.parametrize("command", ["check", "diff"])
def test_wrong_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, command: str
) -> None:
    assert call(monkeypatch, folder, command, "old.json", "max.json", "--json", "--markdown") == 2
    assert "give only one of them" in capsys.readouterr().err
    assert call(monkeypatch, folder, command, "old.json", "nowhere.json") == 1
    assert "there is no such plan file" in capsys.readouterr().err
