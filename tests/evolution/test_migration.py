"""Plan migration: nodes of a tree that is made here, with a version that was dropped and two that follow it."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import execnodes
import execnodes.stream
from execnodes.core import registry
from execnodes.core.errors import PlanError
from execnodes.core.registry import UnknownNodeError
from execnodes.core.version import ENGINE_VERSION
from plans.evolution.upgrade import upgrade
from plans.format import load as loading
from plans.format.codec import encode
from plans.format.load import load
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli import main
from tests.plans.nodes import example

HEAD = """
from execnodes.lowering.stream import Lowering, Rows
from execnodes.core.metadata import exec_node_metadata
from execnodes.core.node import ExecNode


@exec_node_metadata(
    name="stream-exec-tally", version={0}, produced_operators=["tally"], min_plan_version="1.0",
    min_state_version="1.0", consumed_options=["table.exec.uid.format"],
)
"""
SECOND = (
    HEAD.format(2)
    + '''class Tally(ExecNode):
    by: int

    def uids(self):
        return (self.uid("tally"),)

    def lower(self, lowering, inputs):
        raise NotImplementedError

    @classmethod
    def upgrade(cls, old):
        """Version 1 called `by` `key`."""
        return {("by" if name == "key" else name): value for name, value in old.items()}
'''
)
THIRD = (
    HEAD.format(3)
    + '''class Tally(ExecNode):
    by: int
    start: int

    def uids(self):
        return (self.uid("tally"),)

    def lower(self, lowering, inputs):
        raise NotImplementedError

    @classmethod
    def upgrade(cls, old):
        """Version 2 began at 0."""
        return {**old, "start": 0}
'''
)


@pytest.fixture(autouse=True)
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """``execnodes/stream/tally`` with versions 2 and 3."""
    folder = tmp_path / "execnodes" / "stream" / "tally"
    folder.mkdir(parents=True)
    (folder / "__init__.py").write_text("")
    (folder / "v2.py").write_text(SECOND)
    (folder / "v3.py").write_text(THIRD)
    monkeypatch.setattr(execnodes, "__path__", [*execnodes.__path__, str(tmp_path / "execnodes")])
    monkeypatch.setattr(execnodes.stream, "__path__", [*execnodes.stream.__path__, str(folder.parent)])
    _forget()
    yield
    _forget()


def _forget() -> None:
    importlib.invalidate_caches()
    for name in [each for each in sys.modules if each.startswith("execnodes.stream.tally")]:
        del sys.modules[name]
    registry.lookup.cache_clear()
    registry.keys.cache_clear()


def plan(version: int, form: str | None = None, **properties: object) -> str:
    """The example's plan with a tally in place of its count."""
    document: dict[str, Any] = json.loads(encode(example()))
    node = next(each for each in document["nodes"] if each["id"] == 5)
    del node["grouping"]
    node |= {"type": f"stream-exec-tally_{version}", **properties}
    node["configuration"] = {} if form is None else {"table.exec.uid.format": form}
    return json.dumps(document)


def tally(text: str) -> dict[str, Any]:
    found: dict[str, Any] = next(each for each in json.loads(text)["nodes"] if each["id"] == 5)
    return found


def test_a_dropped_version_is_refused_with_the_way_out() -> None:
    with pytest.raises(UnknownNodeError) as caught:
        load(plan(1, key=0), source="old.json")
    said = str(caught.value)
    assert "node 5: unknown node stream-exec-tally_1" in said
    assert "this engine has stream-exec-tally_2, stream-exec-tally_3, and no longer executes that version" in said
    assert "COMPILE PLAN 'new.json' FROM 'old.json'" in said


@pytest.mark.parametrize(
    ("old", "changes"),
    [
        (plan(1, key=4), ("key: 4 -> absent", "by: absent -> 4", "start: absent -> 0")),
        (plan(2, by=4), ("start: absent -> 0",)),
    ],
    ids=["over two versions", "one version"],
)
def test_nodes_become_their_newest_versions(old: str, changes: tuple[str, ...]) -> None:
    found = upgrade(old)
    new = tally(found.text)
    assert (new["type"], new["by"], new["start"], new["state"]) == ("stream-exec-tally_3", 4, 0, tally(old)["state"])
    (change,) = found.nodes
    assert (change.id, change.before, change.after) == (5, tally(old)["type"], "stream-exec-tally_3")
    assert set(changes) <= set(change.changes)
    assert load(found.text).by_id[5].uids() == ("5_tally",)
    again = upgrade(found.text)
    assert (again.text, again.nodes) == (found.text, ())


def test_a_version_in_a_uid_stays_that_of_the_state() -> None:
    found = upgrade(plan(1, "<id>_<type>-<version>_<operator>", key=0))
    assert load(found.text).by_id[5].uids() == ("5_stream-exec-tally-1_tally",)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "stream-exec-tally_4"}, "unknown node stream-exec-tally_4: this engine has stream-exec-tally_2, "),
        ({"type": "stream-exec-nothing_1"}, "this engine has no node of that name"),
        ({"odd": 1}, "node 5 (stream-exec-tally_2): property odd is unknown"),
        ({"type": "Tally"}, "'Tally' is not a node type"),
    ],
    ids=["of a later release", "no node", "a property nobody knows", "no type"],
)
def test_what_cannot_be_migrated(change: dict[str, object], message: str) -> None:
    document = json.loads(plan(2, by=0))
    next(each for each in document["nodes"] if each["id"] == 5).update(change)
    with pytest.raises(PlanError, match=r"old\.json, ") as caught:
        upgrade(json.dumps(document), source="old.json")
    assert message in str(caught.value)


def test_a_release_that_is_no_longer_executed_is_migrated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "OLDEST_READABLE", "1.0")
    old = plan(1, key=0).replace(f'"{ENGINE_VERSION}"', '"0.9"').replace(f"plan-{ENGINE_VERSION}", "plan-0.9")
    with pytest.raises(PlanError, match=r"reads plans from 1\.0 on") as caught:
        load(old)
    assert "COMPILE PLAN 'new.json' FROM 'old.json'" in str(caught.value)
    found = upgrade(old)
    assert found.engine_version == "0.9"
    assert load(found.text).engine_version == ENGINE_VERSION


def test_functions_keep_their_versions() -> None:
    """One that was written without has that of the plan's release."""
    text = plan(1, key=0)
    assert '"$=$1"' in text
    assert '"$=$1"' in upgrade(text).text
    assert '"$=$2"' in upgrade(text.replace('"$=$1"', '"$="')).text


def test_the_statement_and_the_command_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("old.json").write_text(plan(1, key=0))
    result = TableEnvironment.create().execute_sql("COMPILE PLAN 'sql.json' FROM 'old.json'")
    assert "node 5: stream-exec-tally_1 -> stream-exec-tally_3" in str(result.message)
    assert command(monkeypatch, "upgrade", "old.json", "-o", "cli.json") == 0
    assert Path("cli.json").read_bytes() == Path("sql.json").read_bytes()
    assert "node 5: stream-exec-tally_1 -> stream-exec-tally_3: key: 0 -> absent" in capsys.readouterr().out
    assert command(monkeypatch, "upgrade", "old.json", "-o", "cli.json") == 1
    assert "exists already" in capsys.readouterr().err
    assert command(monkeypatch, "upgrade", "old.json", "--dry-run", "--json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["changed"], document["written"]) == (True, None)
    assert [each["after"] for each in document["nodes"]] == ["stream-exec-tally_3"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["nowhere.json", "--dry-run"], 1, "there is no such plan file"),
        (["old.json"], 2, "--dry-run"),
        (["old.json", "-o", "old.json"], 2, "a plan in use is not overwritten"),
    ],
)
def test_wrong_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], arguments: list[str],
    code: int, message: str,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    Path("old.json").write_text(plan(1, key=0))
    assert command(monkeypatch, "upgrade", *arguments) == code
    assert message in " ".join(capsys.readouterr().err.split())


def command(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.setattr(sys, "argv", ["rekindle", *arguments])
    try:
        main.run()
    except SystemExit as ended:
        return int(ended.code or 0)
    return 0
