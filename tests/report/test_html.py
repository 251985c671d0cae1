"""The HTML report, taken apart: all that matters is there, links lead somewhere, nothing comes from elsewhere."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from execnodes.core.graph import ExecGraph
from plans.compatibility.plan_meanings import meanings
from plans.evolution.diff import Standing
from plans.evolution.merge import merge
from plans.format.load import load
from rekindle.cli import main
from rekindle.report.advice import next_steps
from rekindle.report.checked import Checked, checked
from rekindle.report.html.element import element, joined
from rekindle.report.html.page import plan_page, upgrade_page
from rekindle.report.html.sql import side_by_side
from rekindle.report.markdown import checked_markdown, escaped
from rekindle.report.signs import fate_words
from rekindle.report.texts import checked_lines
from tests.check.plans import JOIN, plan
from tests.report.pages import Page, large

SUM = "SELECT k, SUM(v) AS s FROM t GROUP BY k"
CHANGES = {
    "equal": (SUM, SUM),
    "incompatible": (SUM, SUM.replace("SUM", "MAX")),
    "another kind of node": (SUM, JOIN.format("r.v")),
    "with loss": (SUM, SUM.replace("AS s", "AS s, COUNT(w) AS c")),
    "no state": ("SELECT k FROM t", "SELECT k FROM t WHERE v > 1"),
}


def made(old: str, new: str) -> tuple[Checked, ExecGraph, ExecGraph]:
    before, after = load(plan(old)), load(plan(new))
    return checked(("old.json", before), ("new.json", after)), before, after


def check_closed(page: Page) -> None:
    """Nothing comes from elsewhere, ids are unique, and every link leads to one."""
    assert len(page.ids) == len(set(page.ids))
    assert all(link.startswith("#") and link[1:] in page.ids for link in page.values("href"))
    assert page.values("src") == []
    assert {tag for tag, _ in page.elements} & {"link", "iframe", "img", "object", "base"} == set()
    assert set(re.findall(r"\w+://[^\"'\s)]*", page.text)) <= {"http://www.w3.org/2000/svg"}
    assert set(re.findall(r"url\(([^)]*)\)", page.text)) <= {"#to-same", "#to-added", "#to-removed"}
    assert "@import" not in page.text


@pytest.mark.parametrize("name", CHANGES)
def test_all_fates_and_nodes_are_there(name: str) -> None:
    found, before, after = made(*CHANGES[name])
    page = Page(upgrade_page(found, before, after))
    check_closed(page)
    assert f"Verdict: {found.verdict}" in page.words
    rows = [[*(cell.strip() for cell in row)] for row in page.cells]
    for each in found.comparison.judgements:
        (row,) = (row for row in rows if row[1:3] == [each.uid, each.state])
        # The fate is a word, whatever its colour and sign.
        assert (row[0].split(maxsplit=1)[1], row[-1]) == (fate_words(each), each.reason)
    commands = [command for step in next_steps(found) for command in step.commands]
    assert set(commands) <= set(page.words)
    merged = merge(before, after)
    assert len(page.of_class("box")) == len(merged.boxes)
    for box in merged.boxes:
        assert {f"box-{box.key}", f"node-{box.key}"} <= set(page.ids)
        assert box.node.description in page.words
        if box.standing is not Standing.SAME:
            assert any(word.strip().endswith(str(box.standing)) for word in page.words)
        for change in box.difference.changes:
            assert [change.path, change.old or "nothing", change.new or "nothing"] in page.cells
    assert len(page.of_class("edge")) == len(merged.edges)
    assert len([each for each in page.of_class("edge") if "removed" in str(each["class"])]) == sum(
        each.standing is Standing.REMOVED for each in merged.edges
    )


def test_both_plans_are_one_graph() -> None:
    merged = merge(load(plan(SUM)), load(plan(JOIN.format("r.v"))))
    standings = {each.key: each.standing for each in merged.boxes}
    assert (standings["3"], standings["6"], standings["6-old"], standings["9"]) == (
        Standing.SAME, Standing.ADDED, Standing.REMOVED, Standing.ADDED,
    )  # fmt: skip
    edges = {(each.source, each.target): each.standing for each in merged.edges}
    assert (edges["1", "2"], edges["6-old", "7-old"], edges["6", "7"], edges["3", "4-old"]) == (
        Standing.SAME, Standing.REMOVED, Standing.ADDED, Standing.REMOVED,
    )  # fmt: skip


def test_what_sinks_hold_is_noted() -> None:
    sink = "CREATE TABLE s (k STRING, s BIGINT) WITH ('connector' = 'print'); INSERT INTO s "
    found, before, after = made(sink + SUM, sink + SUM + " HAVING SUM(v) > 3")
    (note,) = found.comparison.notes
    assert note in Page(upgrade_page(found, before, after)).words
    assert f"- {escaped(note)}\n" in checked_markdown(found)
    assert [line for line in checked_lines(found) if line.startswith("note ")] == [f"note          {note}"]


def test_rows_and_bytes_are_shown() -> None:
    from rekindle.savepoints.manifest import SavedState

    found, before, after = made(SUM, SUM)
    judgement = found.comparison.judgements[1]
    address = (judgement.uid, judgement.state)
    saved = SavedState(*address, (), (), False, 0, {}, (), (), 8, 1_234, 56_789, {})
    sized = Checked(found.old, found.new, found.comparison, {address: saved}, "savepoint")
    page = Page(upgrade_page(sized, before, after))
    (row,) = (row for row in page.cells if row[1:3] == list(address))
    assert row[3:5] == ["1,234", "56,789"]


def test_one_plan() -> None:
    graph = load(plan(JOIN.format("r.v")))
    page = Page(plan_page("plan.json", graph, "SELECT '<b>'"))
    check_closed(page)
    for each in meanings(graph):
        (row,) = (row for row in page.cells if row[:2] == [each.uid, each.name])
        assert all(column.name in row[2] for column in each.columns)
    assert "SELECT '<b>'" in page.words
    for node in graph.nodes:
        assert " ".join(kind.short for kind in sorted(node.changelog_mode)) in page.words


def test_names_stay_text() -> None:
    query = "SELECT k AS `<script>alert(1)</script>`, SUM(v) AS `\"&'` FROM t GROUP BY k"
    found, before, after = made(query, query.replace("SUM", "MAX"))
    page = Page(upgrade_page(found, before, after, (query, f"{query} -- </table><i>")))
    check_closed(page)
    assert sum(tag == "script" for tag, _ in page.elements) == 1
    assert not any(tag == "i" for tag, _ in page.elements)


def test_two_hundred_nodes_stay_small() -> None:
    before, after = load(large("SUM")), load(large("MIN"))
    assert len(after.nodes) >= 190
    found = checked(("old.json", before), ("new.json", after))
    text = upgrade_page(found, before, after)
    assert len(text.encode()) < 1_000_000
    page = Page(text)
    check_closed(page)
    assert {each.uid for each in found.comparison.judgements} <= set(page.words)
    assert {each.reason for each in found.comparison.judgements} <= set(page.words)


def test_lines_side_by_side() -> None:
    page = Page(side_by_side("a\nSELECT x, y FROM t\nend", "a\nSELECT x, MAX(y) FROM t\nmore\nend"))
    assert page.cells[1:] == [
        ["1", " ", "a", "1", " ", "a"],
        ["2", "-", "SELECT x, y FROM t", "2", "+", "SELECT x, MAX(y) FROM t"],
        ["", " ", "", "3", "+", "more"],
        ["3", " ", "end", "4", " ", "end"],
    ]
    assert "<ins>MAX(</ins>y<ins>)</ins>" in page.text


def test_parts_are_escaped_once() -> None:
    made = element("p", "a<b", element("b", "&"), ["x", None], class_='"', hidden=True, open=False)
    assert made == '<p class="&quot;" hidden>a&lt;b<b>&amp;</b>x</p>'
    assert joined(made) == made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "old.json").write_text(plan(SUM))
    (tmp_path / "new.json").write_text(plan(SUM.replace("SUM", "MAX")))
    (tmp_path / "old.sql").write_text(SUM)
    (tmp_path / "new.sql").write_text(SUM.replace("SUM", "MAX"))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["old.json", "new.json", "-o", "out/r.html"], 0, "out/r.html: incompatible\n"),
        (["old.json", "new.json", "--old-sql", "old.sql", "--new-sql", "new.sql"], 0, "report.html: incompatible\n"),
        (["new.json", "--old-sql", "new.sql"], 0, "report.html: 7 nodes\n"),
        (["old.json", "new.json", "--old-sql", "old.sql"], 2, "give the scripts of both plans"),
        (["old.json", "--new-sql", "old.sql"], 2, "a report on one plan takes none of"),
        (["old.json", "nowhere.json"], 1, "error: there is no such plan file"),
        (["old.json", "new.json", "-s", "."], 1, "error: this is no savepoint"),
        (["old.json", "new.json", "-o", "."], 1, "error: the report cannot be written"),
    ],
)
def test_the_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], folder: Path, arguments: list[str], code: int,
    message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["rekindle", "report", *arguments])
    with pytest.raises(SystemExit) as ended:
        main.run()
    shown = capsys.readouterr()
    assert ended.value.code == code
    assert message in (shown.err if code else shown.out)
    assert len(list(folder.rglob("*.html"))) == (code == 0)
