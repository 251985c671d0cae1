"""Savepoints of format 1 have texts alone; what they mean is told by their plan, and format 2 keeps it as trees."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from execnodes.core.errors import StateError
from execnodes.terms.shown import TEXT
from rekindle.savepoints.contents import read
from rekindle.savepoints.manifest import NAME, Manifest, sealed
from tests.savepoints.saved import SAVEPOINTS


def _kinds(manifest: Manifest) -> set[str]:
    return {term.kind for state in manifest.states for term in (*state.parts.values(), *state.meanings)}


def _texts(manifest: Manifest) -> list[object]:
    return [
        [{label: term.text for label, term in each.parts.items()}, [term.text for term in each.meanings]]
        for each in manifest.states
    ]


@pytest.mark.parametrize("folder", SAVEPOINTS, ids=lambda each: f"{each.parts[-3]}/{each.parts[-2]}")
def test_every_savepoint_has_trees_that_say_its_texts(folder: Path) -> None:
    manifest, written = read(folder), json.loads((folder / NAME).read_text(encoding="utf-8"))
    assert TEXT not in _kinds(manifest)
    if written["version"] == 1:
        assert _texts(manifest) == [[each["parts"], each["meanings"]] for each in written["states"]]


def test_format_2_holds_trees_and_texts() -> None:
    manifest = read(SAVEPOINTS[0])
    written = json.loads(manifest.text())
    assert written["version"] == 2
    meant = written["states"][0]["parts"]["input"]
    assert meant["text"] == manifest.states[0].parts["input"].text
    assert set(written["terms"][meant["term"]]) <= {"kind", "says", "parts", "cut"}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda found: found.pop("terms"), "the manifest is damaged"),
        (lambda found: found["terms"].clear(), "it is no meaning"),
        (lambda found: found["terms"].reverse(), "it is made of terms that do not stand before it"),
        (lambda found: found["terms"][0].update(more=1), "Unexpected keyword argument"),
        (lambda found: found["states"][0]["parts"].update(input="t"), "it is no meaning"),
        (lambda found: found["states"][0]["parts"]["input"].update(term=True), "it is no meaning"),
        (lambda found: found["states"][0]["parts"]["input"].update(term=10**9), "it is no meaning"),
        (lambda found: found["states"][0]["parts"]["input"].update(text=7), "it is no meaning"),
    ],
)
def test_damaged_terms_are_refused(change: Callable[[dict[str, Any]], object], says: str, tmp_path: Path) -> None:
    found = json.loads(read(SAVEPOINTS[0]).text())
    change(found)
    (tmp_path / NAME).write_text(sealed(found), encoding="utf-8")
    with pytest.raises(StateError, match=says):
        read(tmp_path)
