"""Plans of all conformance programs: unchanged, readable again, valid, and naming their states as the nodes do."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from execnodes.core.errors import RekindleError
from execnodes.core.node import UID_FORMAT
from plans.format.codec import encode
from plans.format.lint import lint
from plans.format.load import load
from plans.format.schema import published
from tests.completeness.tree import ROOT, own_files, texts
from tests.plans.corpus import GOLDENS, compiled, cover, goldens, graphs

# Compiling all programs takes a while, so it is done in one process, and not before a test needs it.
pytestmark = pytest.mark.xdist_group("corpus")
PROCESSES: tuple[dict[str, str], ...] = (
    {"PYTHONHASHSEED": "0", "TZ": "Asia/Tokyo"},
    {"PYTHONHASHSEED": "4242", "TZ": "America/New_York", "LC_ALL": "C", "PYTHONUTF8": "0"},
)


def test_plans_have_not_changed() -> None:
    wanted = goldens()
    assert {path.name for path in GOLDENS.iterdir()} == {path.name for path in wanted}, "run `make goldens`"
    changed = [path.name for path, text in wanted.items() if path.read_text(encoding="utf-8") != text]
    assert changed == [], "run `make goldens` and review the difference"


def test_a_plan_comes_back_as_it_was() -> None:
    for name, graph in graphs().items():
        text = encode(graph)
        assert load(text) == graph, name
        assert encode(load(text)) == text, name


def test_a_plan_follows_the_schema() -> None:
    for name in cover():
        text = encode(graphs()[name])
        Draft202012Validator(published()).validate(json.loads(text))
        assert lint(text) == [], name


def test_stored_states_are_those_of_the_nodes() -> None:
    for name, graph in graphs().items():
        for node in graph.nodes:
            assert bool(node.uids()) == bool(node.state), f"{name}: {node.key}"
            known = {text for path in own_files(node.key) for text in texts(path)}
            assert {entry.name for entry in node.state} <= known, f"{name}: {node.key}"
            assert all(re.fullmatch(r"[a-z][A-Za-z]*State", entry.name) for entry in node.state)


def test_every_option_a_node_stores_is_there() -> None:
    for name, graph in graphs().items():
        for node in graph.nodes:
            stored = set(node.configuration) | {UID_FORMAT}
            assert stored == set(node.metadata.consumed_options) | {UID_FORMAT}, f"{name}: {node.key}"


def test_refusals_say_where_or_what_to_do() -> None:
    for name, plan in compiled().items():
        if isinstance(plan, RekindleError):
            assert plan.position or plan.where or plan.hint, f"{name}: {plan}"


def test_sql_compiles_to_the_same_bytes_in_any_process(tmp_path: Path) -> None:
    program = (
        "import hashlib\nfrom tests.plans.corpus import plan_of\n"
        f"texts = [plan_of(name).as_json_string() for name in {cover()!r}]\n"
        "print(hashlib.sha256(''.join(texts).encode()).hexdigest())"
    )
    digests = {_output(program, settings, tmp_path) for settings in PROCESSES}
    assert len(digests) == 1


def _output(program: str, settings: dict[str, str], folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **settings}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=True).stdout
