"""Nothing that a plan or a savepoint names is imported without consent."""

import io
import json
import os
import pickle
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from execnodes.core import consent
from execnodes.core.errors import RekindleError, StateError
from execnodes.core.expressions import AccumulatorSchema
from execnodes.core.types import BIGINT, Field, row
from execnodes.state.serializers.dataclasses import DataclassSnapshot
from execnodes.state.serializers.make import snapshot_of
from execnodes.state.serializers.pickled import PickleSerializer
from rekindle.api.table_environment import TableEnvironment
from rekindle.cli.app import app_of
from rekindle.results.compiled_plan import CompiledPlan

SCRIPT = """
CREATE TABLE t (k STRING, v DOUBLE, w DOUBLE) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE s (k STRING, n DOUBLE) WITH ('connector' = 'print');
CREATE FUNCTION mean AS 'tests.user_functions.examples:WeightedMean' LANGUAGE PYTHON;
INSERT INTO s SELECT k, mean(v, w) FROM t GROUP BY k
"""
TRAP = "import pathlib\npathlib.Path(__file__).with_suffix('.sprung').touch()\nraise SystemExit(77)\n"


@pytest.fixture
def traps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with two plans that name a module whose import is seen."""
    (tmp_path / "rk_trap.py").write_text(TRAP)
    monkeypatch.syspath_prepend(str(tmp_path))
    plan = json.loads(TableEnvironment.create({}).compile_script(SCRIPT).as_json_string())
    for name, version in (("old", 1), ("new", 2)):
        for node in plan["nodes"]:
            for call in node.get("aggCalls", ()):
                call["class"] = "rk_trap:Mean"
                call["accumulator"].update(serializer="rk_trap:Snapshot", version=version)
        (tmp_path / f"{name}.json").write_text(json.dumps(plan))
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("lint old.json", 0),
        ("explain old.json", 0),
        ("diff old.json new.json", None),
        ("upgrade old.json -o up.json", 0),
        ("check old.json new.json", 5),
        ("report old.json new.json -o report.html", None),
    ],
)
def test_looking_at_a_plan_imports_nothing(traps: Path, arguments: str, code: int | None) -> None:
    words = [str(traps / each) if each.endswith((".json", ".html")) else each for each in arguments.split()]
    found = CliRunner().invoke(app_of(), words)
    assert isinstance(found.exception, SystemExit | None), found.exception
    assert code is None or found.exit_code == code, found.output
    assert not (traps / "rk_trap.sprung").exists()
    assert "rk_trap" not in sys.modules
    if "check" in arguments:
        assert "rk_trap" in found.output
        assert "pipeline.classes.allowed" in found.output


def test_running_a_plan_needs_consent(traps: Path) -> None:
    plan = CompiledPlan((traps / "old.json").read_text())
    with pytest.raises(RekindleError, match=r"node 3 .*'rk_trap', which is not allowed") as raised:
        TableEnvironment.create({}).resolved(plan)
    assert raised.value.hint is not None
    assert "pipeline.classes.allowed=rk_trap" in raised.value.hint
    assert not (traps / "rk_trap.sprung").exists()


def test_with_consent_it_is_imported(traps: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consent, "_granted", set())
    plan = CompiledPlan((traps / "old.json").read_text())
    with pytest.raises(SystemExit):
        TableEnvironment.create({"pipeline.classes.allowed": "other, rk_trap"}).resolved(plan)
    assert (traps / "rk_trap.sprung").exists()


def test_allowed_modules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consent, "_granted", {"jobs.sums"})
    assert [each for each in ("jobs", "jobs.sums", "jobs.sums.more", "jobs.sumsx", "") if consent.allows(each)] == [
        "jobs.sums",
        "jobs.sums.more",
    ]


@pytest.mark.parametrize("name", ["os:abort", "os.abort", "os:system", "posix:abort", "builtins:exec", "", ":", "x"])
def test_snapshots_are_classes_of_allowed_modules(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = AccumulatorSchema(serializer=name, type=row(Field("a", BIGINT)))
    with pytest.raises(RekindleError, match=r"is not allowed|cannot be read"):
        snapshot_of(schema)
    with pytest.raises(RekindleError, match=r"is not allowed|is gone"):
        DataclassSnapshot(name).restore_serializer()
    monkeypatch.setattr(consent, "_granted", {"os", "posix", "builtins"})
    with pytest.raises(StateError):
        snapshot_of(schema)
    with pytest.raises(StateError):
        DataclassSnapshot(name).restore_serializer()


class Held:
    """What somebody keeps in an accumulator."""

    value = 5


def test_pickled_state_calls_only_what_is_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    class Attack:
        def __reduce__(self) -> tuple[object, tuple[str]]:
            return os.system, ("true",)

    monkeypatch.setattr(consent, "_granted", set())
    plain = PickleSerializer("x")
    with pytest.raises(StateError, match=r"posix\.system, which is not allowed"):
        plain.deserialize(pickle.dumps(Attack()))
    with pytest.raises(StateError, match=r"builtins\.eval"):
        plain.deserialize(b"cbuiltins\neval\n(S'1'\ntR.")
    value = {"a": [1, 2.5, {3}, frozenset([4]), complex(1, 2)], "b": (b"x", bytearray(b"y"), None)}
    assert plain.deserialize(plain.serialize(value)) == value
    held = pickle.dumps(Held())
    with pytest.raises(StateError, match="Held"):
        plain.deserialize(held)
    consent.grant([__name__])
    assert PickleSerializer("x").deserialize(held).value == 5
    assert pickle.load(io.BytesIO(held)).value == 5
