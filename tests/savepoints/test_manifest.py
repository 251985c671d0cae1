"""A folder is a savepoint only if it is whole, ours, and of a format we know."""

from __future__ import annotations

import errno
import hashlib
import json
import logging
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from execnodes.core.errors import StateError
from execnodes.terms.term import leaf
from rekindle.savepoints.contents import read, seal
from rekindle.savepoints.folder import _machine, new_folder, state_folder
from rekindle.savepoints.manifest import NAME, PLAN, Manifest, SavedState, checksum, sealed
from rekindle.savepoints.plan import saved_plan
from rekindle.savepoints.restore import prepare
from tests.savepoints.saved import AGGREGATES, ONE
from tests.savepoints.saved import STATE as STATE_OF_ONE

STATE = "state/4_group-aggregate/groupAggregateState.parquet/part-0.parquet"


def write(folder: Path) -> Manifest:
    (folder / STATE).parent.mkdir(parents=True)
    (folder / STATE).write_bytes(b"rows")
    (folder / PLAN).write_text("{}")
    state = SavedState(
        "4_group-aggregate", "groupAggregateState", (("k", "STRING"),), ("k",), False, 0, {"input": leaf("table", "t")},
        (leaf("column", "t.k"),), ("1_source",), 8, 1, 4, {STATE: checksum(folder / STATE)},
    )  # fmt: skip
    manifest = Manifest(
        "1.0",
        hashlib.sha256(b"{}").hexdigest(),
        7,
        {"1_source": "[]"},
        {"1_source": {"source": leaf("table", "t")}},
        (state,),
    )
    (folder / NAME).write_text(manifest.text())
    return manifest


def change(**values: object) -> Callable[[Path], object]:
    def apply(folder: Path) -> None:
        found = json.loads((folder / NAME).read_text())
        (folder / NAME).write_text(sealed({**found, **values}))

    return apply


def change_state(**values: object) -> Callable[[Path], object]:
    def apply(folder: Path) -> None:
        found = json.loads((folder / NAME).read_text())
        found["states"][0] |= values
        (folder / NAME).write_text(sealed(found))

    return apply


def unsealed(**values: object) -> Callable[[Path], object]:
    def apply(folder: Path) -> None:
        found = json.loads((folder / NAME).read_text())
        kept = {key: value for key, value in {**found, **values}.items() if value is not None}
        (folder / NAME).write_text(json.dumps(kept))

    return apply


def text(old: str, new: str) -> Callable[[Path], object]:
    def apply(folder: Path) -> None:
        found = (folder / NAME).read_text()
        assert old in found
        (folder / NAME).write_text(found.replace(old, new, 1))

    return apply


def _linked_out(folder: Path) -> None:
    other = folder.with_name(f"{folder.name}-other")
    (folder / STATE).rename(other)
    (folder / STATE).symlink_to(other)


def _linked_in_a_ring(folder: Path) -> None:
    (folder / STATE).unlink()
    (folder / STATE).symlink_to(folder / STATE)


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    assert write(tmp_path) == read(tmp_path)


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda folder: (folder / NAME).unlink(), "no manifest"),
        (lambda folder: (folder / NAME).write_text('{"form'), "damaged"),
        (lambda folder: (folder / NAME).write_text("[]"), "not a manifest"),
        (change(format="other"), "not a manifest"),
        (change(version=3), "format 3"),
        (change(engine="7.3", states=[{}]), "taken by engine version 7.3, this engine is version"),
        (change(engine="new"), "damaged"),
        (change(states=[{"uid": "x"}]), r"states\.0\.name: Field required"),
        (change(version="2"), "version: '2' is none"),
        (unsealed(engine="1.3", seal=None), "seal"),
        (change(watermark=-1), "watermark: Input should be greater"),
        (change(watermark="7"), "watermark: Input should be a valid integer"),
        (change(watermark=10**30), "watermark"),
        (change(more=1), "more: Unexpected"),
        (change(positions={"1_source": 7}), "positions.1_source: Input should be a valid string"),
        (
            change_state(max_parallelism=10**12),
            r"states\.0\.max_parallelism: Input should be less than or equal to 32768",
        ),
        (change_state(rows=-1), r"states\.0\.rows: "),
        (change_state(rows=1.5), r"states\.0\.rows: "),
        (change_state(name=7), r"states\.0\.name: "),
        (change_state(uid=""), r"states\.0\.uid: "),
        (change_state(extra=[[[]]]), r"states\.0\.extra: "),
        (change_state(schema=[["k", "STRUNG"]]), "column k: "),
        (change_state(key=["other"]), "the key is not made of its columns"),
        (change_state(files={"../plan.json": "0" * 64}), "outside the savepoint"),
        (change_state(files={"state/../plan.json": "0" * 64}), "outside the savepoint"),
        (change_state(files={"/etc/passwd": "0" * 64}), "outside the savepoint"),
        (change_state(files={"state/\0": "0" * 64}), "outside the savepoint"),
        (change_state(files={"state/" + "x" * 300: "0" * 64}), "cannot be read"),
        (change_state(files={}), "does not name this file"),
        (change_state(files={PLAN: "0" * 64}), "names a file twice"),
        (unsealed(watermark=8), "seal"),
        (unsealed(seal="0" * 64), "seal"),
        (text('"watermark": 7', '"watermark": 7, "watermark": 8'), "the key 'watermark' is there twice"),
        (text('"watermark": 7', '"watermark": NaN'), "NaN is no number"),
        (text('"watermark": 7', f'"watermark": {"7" * 5000}'), "damaged"),
        (text('"watermark": 7', f'"watermark": {"[" * 100_000}'), "nested too deeply"),
        (lambda folder: (folder / NAME).write_bytes(b"\xff\xfe{"), "damaged"),
        (lambda folder: (folder / "state" / "more").write_text("x"), "does not name this file"),
        (_linked_out, "outside the savepoint"),
        (_linked_in_a_ring, "missing|outside|cannot be read"),
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


def test_without_a_seal_rows_are_counted(tmp_path: Path) -> None:
    for changes, says in (
        ({"rows": 7}, "7"),
        ({"schema": [["other", "INT"]], "key": [], "meanings": ["x"]}, "other"),
    ):
        folder = tmp_path / says
        shutil.copytree(AGGREGATES, folder)
        read(folder)
        found = json.loads((folder / NAME).read_text())
        assert found["version"] == 1
        found["states"][0] |= changes
        (folder / NAME).write_text(json.dumps(found))
        with pytest.raises(StateError, match=f"rows in its files, and not 7|has no column {says}"):
            read(folder)


def test_what_a_killed_writer_left_goes_and_what_a_living_one_writes_stays(tmp_path: Path) -> None:
    dead = tmp_path / f".a.{_machine()}-{'0' * 16}.partial"
    foreign = tmp_path / f".b.{'0' * 8}-{'0' * 16}.partial"
    for each in dead, foreign:
        each.mkdir()
        os.utime(each, (0, 0))
    with new_folder(tmp_path / "one") as first:
        (first / "file").write_text("x")
        os.utime(first, (0, 0))
        with new_folder(tmp_path / "two"):
            pass
        assert first.exists()
    assert sorted(each.name for each in tmp_path.iterdir()) == [foreign.name, "one", "two"]
    assert (tmp_path / "one").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "one" / "file").stat().st_mode & 0o777 == 0o600


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="cannot be written: No space left on device"), new_folder(tmp_path / "one"):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert list(tmp_path.iterdir()) == []


def test_a_writer_reads_back_what_it_wrote(tmp_path: Path) -> None:
    shutil.copytree(AGGREGATES, tmp_path / "s")
    manifest = replace(read(tmp_path / "s"), engine="1.3")
    (tmp_path / "s" / NAME).unlink()
    empty = tuple(replace(each, rows=0) for each in manifest.states)
    with pytest.raises(StateError, match="rows in its files, and not 0"):
        seal(tmp_path / "s", replace(manifest, states=empty))
    (tmp_path / "s" / NAME).unlink()
    assert seal(tmp_path / "s", manifest) == manifest == read(tmp_path / "s")


@pytest.mark.parametrize("uid", ["4_join", "a/b", "..", "a\nb", "é" * 200, "x" * 300, ".", "_a", "a b"])
def test_folders_of_states_are_below(uid: str) -> None:
    place = state_folder(Path("/s"), uid, "name")
    assert place.parts[:3] == ("/", "s", "state")
    assert len(place.parts) == 5
    assert ".." not in place.parts
    assert max(len(each.encode()) for each in place.parts) < 250


def test_a_state_of_the_savepoints_own_plan_that_is_not_there(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    shutil.copytree(AGGREGATES, folder)
    graph = saved_plan(folder)
    assert graph is not None
    found = json.loads((folder / NAME).read_text())
    gone = [each for each in found["states"] if each["uid"] == ONE]
    found["states"] = [each for each in found["states"] if each["uid"] != ONE]
    for state in gone:
        for name in state["files"]:
            (folder / name).unlink()
    (folder / NAME).write_text(json.dumps(found))
    with pytest.raises(StateError, match=f"{STATE_OF_ONE}: the savepoint's own plan has this state"):
        prepare(folder, graph, drop_unclaimed=False, drop=frozenset())
    for consent, dropped in ("allow", frozenset[str]()), ("await_approval", frozenset([STATE_OF_ONE])):
        fates = prepare(folder, graph, drop_unclaimed=False, drop=dropped, consent=consent).fates
        assert [each.fate for each in fates if each.uid == ONE] == ["empty"]


def test_a_plan_that_is_not_read_is_told_of(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / PLAN).write_text("{}")
    with caplog.at_level(logging.WARNING, logger="rekindle.savepoints"):
        assert saved_plan(tmp_path) is None
    assert f"{tmp_path}: its plan is not read" in caplog.text
