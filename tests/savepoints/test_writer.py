"""Savepoints made from others, without Spark: what stays as it is, where they are written, how they are moved."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from execnodes.core.errors import StateError
from execnodes.core.version import ENGINE_VERSION
from plans.format.codec import encode
from plans.format.load import load
from rekindle.results.compiled_plan import CompiledPlan
from rekindle.savepoints.contents import read
from rekindle.savepoints.exchange import export_state
from rekindle.savepoints.manifest import PLAN
from rekindle.savepoints.reader import SavepointReader
from rekindle.savepoints.restore import prepare
from rekindle.savepoints.writer import SavepointWriter
from rekindle.testing.restore_fixtures import stored
from tests.savepoints.saved import AGGREGATES, ONE, SAVEPOINTS, STATE, TABLE, THREE, content, described, fixtures, table


@fixtures
def test_a_copy_is_the_same(folder: Path, tmp_path: Path) -> None:
    before = content(folder)
    copied = SavepointWriter.from_existing_savepoint(folder).write(tmp_path / "new").manifest
    original = read(folder)
    assert copied == read(tmp_path / "new")
    assert replace(copied, states=()) == replace(original, engine=ENGINE_VERSION, states=())
    assert [described(each) for each in copied.states] == [described(each) for each in original.states]
    assert [each.bytes for each in copied.states] == [each.bytes for each in original.states]
    assert content(folder) == before
    for each in original.states:
        assert table(tmp_path / "new", each.title).equals(table(folder, each.title))


@fixtures
def test_every_state_survives_its_own_plan_a_function_and_another_parallelism(folder: Path, tmp_path: Path) -> None:
    writer = SavepointWriter.from_existing_savepoint(folder)
    states = read(folder).states
    functions: list[Callable[[Any], Any]] = [_polars, _pandas, _arrow]
    for number, each in enumerate(states):
        writer.transform_state(each.title, functions[number % 3])
    plan = CompiledPlan.from_json_string(encode(stored(folder.parent)))
    writer.with_plan(plan).with_max_parallelism(5)
    migrated = writer.write(tmp_path / "new")
    kept = [step for step, _ in migrated.steps if step.operation not in ("transform", "repartition")]
    assert [(step.operation, step.title) for step in kept] == [("keep", each.title) for each in states]
    for each, new in zip(states, migrated.manifest.states, strict=True):
        assert described(new) == replace(described(each), max_parallelism=5)
        assert table(tmp_path / "new", each.title).equals(table(folder, each.title))


def _polars(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.reverse()


def _pandas(rows: pd.DataFrame) -> pd.DataFrame:
    return rows.iloc[::-1]


def _arrow(rows: pa.Table) -> pa.RecordBatch:
    return rows.to_batches()[0]


@fixtures
def test_every_state_is_exported_and_imported(folder: Path, tmp_path: Path) -> None:
    reader = SavepointReader.read(folder)
    writer = SavepointWriter.from_existing_savepoint(folder)
    for number, each in enumerate(reader.states, SAVEPOINTS.index(folder)):
        file = tmp_path / f"{number}{('.parquet', '.csv', '.json')[number % 3]}"
        export_state(reader, each.title, file)
        writer.with_state(each.title, file)
    writer.write(tmp_path / "new")
    for each in reader.states:
        assert table(tmp_path / "new", each.title).equals(table(folder, each.title)), each.title


def test_a_savepoint_may_be_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    SavepointWriter.from_existing_savepoint(AGGREGATES).with_max_parallelism(3).write("made/here")
    (tmp_path / "made" / "here").rename(tmp_path / "there")
    (tmp_path / "link").symlink_to("there")
    shutil.copytree("there", "made/a copy, äöü/k0=[x]*")
    monkeypatch.chdir(tmp_path / "made")
    for place in ("../there", "../link", "a copy, äöü/k0=[x]*", str(tmp_path / "there")):
        SavepointWriter.from_existing_savepoint(place).edit(f"DELETE FROM {TABLE}").rehearse()
        with SavepointReader.read(place).query(f"SELECT k0 FROM {TABLE} ORDER BY k0") as (_, rows):
            assert list(rows) == [("a",), ("b",), (None,)]
        restore = prepare(Path(place), _graph(Path(place)), drop_unclaimed=False, drop=frozenset())
        assert {each.fate for each in restore.fates} == {"restored"}
    assert not any("there" in each or str(tmp_path) in each for each in read(Path("../there")).states[0].files)


def _graph(folder: Path) -> Any:
    return load((folder / PLAN).read_text(), source=str(folder))


def _fails(rows: pa.Table) -> pa.Table:
    raise ValueError("nothing fits")


def test_a_failure_leaves_nothing_behind(tmp_path: Path) -> None:
    writer = SavepointWriter.from_existing_savepoint(AGGREGATES)
    writer.change_operator_identifier({ONE: "14_x"}).transform_state("14_x", _fails)
    with pytest.raises(StateError, match=r"rows 0 to 2: .*_fails failed: ValueError: nothing fits"):
        writer.write(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
    assert SavepointWriter.from_existing_savepoint(AGGREGATES).rehearse().manifest.states
    assert list(tmp_path.iterdir()) == []


def test_only_a_new_folder_is_written(tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    shutil.copytree(AGGREGATES, saved)
    for target, says in ((saved, "exists already"), (saved / "new", "inside the old savepoint")):
        with pytest.raises(StateError, match=says):
            SavepointWriter.from_existing_savepoint(saved).write(target)
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="cannot be written"):
        SavepointWriter.from_existing_savepoint(saved).write(tmp_path / "file" / "new")
    assert content(saved) == content(AGGREGATES)


def test_history_goes_on(tmp_path: Path) -> None:
    SavepointWriter.from_existing_savepoint(AGGREGATES).edit(f"DELETE FROM {TABLE} WHERE k0 = 'a'").write(
        tmp_path / "1"
    )
    SavepointWriter.from_existing_savepoint(tmp_path / "1").remove_operator(THREE).write(tmp_path / "2")
    found = [(each.operation, each.title, each.rows_before, each.rows_after) for each in read(tmp_path / "2").history]
    assert found == [("edit", STATE, 3, 2), ("drop", f"{THREE}:groupAggregateState", 2, 0)]
    with SavepointReader.read(tmp_path / "2").query("SELECT operation FROM savepoint_history") as (_, rows):
        assert list(rows) == [("edit",), ("drop",)]
