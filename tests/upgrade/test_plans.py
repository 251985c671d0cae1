"""Plans that releases have made of all conformance programs: read, migrated, and given the state of then."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from execnodes.core.registry import UnknownNodeError
from plans.compatibility.compare import Verdict, compare
from plans.compatibility.plan_meanings import meanings
from plans.evolution.upgrade import upgrade
from plans.format.load import load
from releases import Release, releases
from tests.upgrade.engines import Engine
from tests.upgrade.tell import Told, states_of
from tests.upgrade.work import DROPPED

ALL = releases()


@pytest.mark.parametrize(
    "old", [pytest.param(each, marks=[pytest.mark.long] * (each is not ALL[0]), id=each.version) for each in ALL]
)
def test_all_programs_of_a_release_keep_their_state(old: Release, tmp_path: Path) -> None:
    file = tmp_path / "told.json"
    done = Engine.install(old, tmp_path).run("-m", "tests.upgrade.tell", str(file))
    assert done.returncode == 0, done.stderr
    plans: dict[str, Told] = json.loads(file.read_text(encoding="utf-8"))
    assert len(plans) > 100
    assert {json.loads(each["plan"])["engineVersion"] for each in plans.values()} == {old.engine_version}
    assert {name: problem for name, each in plans.items() if (problem := _problem(each))} == {}


def _problem(told: Told) -> str:
    """What is wrong with going on with a plan of then, and with what it is migrated to; empty if all is well."""
    texts = [upgrade(told["plan"]).text]
    try:
        load(told["plan"])
        texts.append(told["plan"])
    except UnknownNodeError as error:
        if DROPPED not in str(error) or "rekindle upgrade" not in str(error):
            return str(error)
    found = [compare(states_of(told), meanings(load(text))) for text in texts]
    return "; ".join(
        f"{each.title} {each.fate}: {each.reason}"
        for comparison in found
        if comparison.verdict is not Verdict.FULL
        for each in comparison.judgements
    )
