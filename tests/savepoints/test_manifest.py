"""A folder is a savepoint only if it is whole, ours, and of a format we know."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from execnodes.core.errors import StateError
from rekindle.savepoints.manifest import NAME, PLAN, Manifest, SavedState, checksum, read

STATE = "state/4_group-aggregate/groupAggregateState.parquet/part-0.parquet"


def write(folder: Path) -> Manifest:
    (folder / STATE).parent.mkdir(parents=True)
    (folder / STATE).write_bytes(b"rows")
    (folder / PLAN).write_text("{}")
    state = SavedState(
        "4_group-aggregate", "groupAggregateState", (("k", "STRING"),), ("k",), False, 0, {"input": "t"},
        ("t.k",), ("1_source",), 8, 1, 4, {STATE: checksum(folder / STATE)},
    )  # fmt: skip
    manifest = Manifest(
        "1.0", hashlib.sha256(b"{}").hexdigest(), 7, {"1_source": "[]"}, {"1_source": {"source": "t"}}, (state,)
    )
    (folder / NAME).write_text(manifest.text())
    return manifest


def change(**values: object) -> Callable[[Path], object]:
    def apply(folder: Path) -> None:
        found = json.loads((folder / NAME).read_text())
        (folder / NAME).write_text(json.dumps({**found, **values}))

    return apply


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert write(tmp_path) == read(tmp_path)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / NAME).unlink(), "no manifest"),
        (lambda folder: (folder / NAME).write_text('{"form'), "damaged"),
        (lambda folder: (folder / NAME).write_text("[]"), "not a manifest"),
        (change(format="other"), "not a manifest"),
        (change(version=2), "format 2"),
        (change(engine="7.3", states=[{}]), "taken by engine version 7.3, this engine is version"),
        (change(engine="new"), "damaged"),
        (change(states=[{"uid": "x"}]), "damaged"),
        (lambda folder: (folder / STATE).unlink(), "missing"),
        (lambda folder: (folder / STATE).write_bytes(b"row"), "checksum"),
        (lambda folder: (folder / PLAN).write_text("{ }"), "checksum"),
    ],
)
def test_damage_is_refused(tmp_path: Path, damage: Callable[[Path], object], says: str) -> None:
    write(tmp_path)
    damage(tmp_path)
    with pytest.raises(StateError, match=says):
        read(tmp_path)
