"""Migrated savepoints: rows from functions, files and SQL, other key groups."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from execnodes.core.errors import StateError
from plans.format.load import load
from rekindle.savepoints.contents import read
from rekindle.savepoints.exchange import export_state
from rekindle.savepoints.manifest import PLAN
from rekindle.savepoints.reader import SavepointReader
from rekindle.savepoints.user_frames import library_of
from rekindle.savepoints.writer import SavepointWriter
from tests.savepoints.saved import AGGREGATES, ONE, STATE, TABLE, THREE, column, table


def _doubled(rows: pa.Table) -> pa.Table:
    at = rows.column_names.index("sv$sum")
    return rows.set_column(at, "sv$sum", pc.multiply(rows["sv$sum"], 2))


def test_rows_are_transformed(tmp_path: Path) -> None:
    SavepointWriter.from_existing_savepoint(AGGREGATES).transform_state(ONE, _doubled).write(tmp_path / "new")
    assert column(tmp_path / "new", ONE, "sv$sum") == [each and 2 * each for each in column(AGGREGATES, ONE, "sv$sum")]
    assert column(tmp_path / "new", ONE, "sd$sum") == column(AGGREGATES, ONE, "sd$sum")


def _annotated(annotation: object) -> Callable[[Any], Any]:
    def function(rows: Any) -> Any:
        return rows

    function.__annotations__["rows"] = annotation
    return function


@pytest.mark.parametrize(
    ("function", "library"),
    [
        (_annotated(pd.DataFrame), "pandas"),
        (_annotated(pa.Table), "pyarrow"),
        (lambda rows: rows, "pyarrow"),
        (_annotated(pl.DataFrame), "polars"),
        (_annotated("unknown.DataFrame"), "pyarrow"),
        (_annotated("pl.DataFrame"), "polars"),
        (_annotated("nowhere.DataFrame | None"), "pyarrow"),
        (pl.DataFrame.reverse, "pyarrow"),
        (dict, "pyarrow"),
    ],
)
def test_annotations_tell_whose_frames_a_function_takes(function: Callable[[Any], Any], library: str) -> None:
    assert library_of(function) == library


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (lambda rows: None, "gave a NoneType, which is no table"),
        (lambda rows: rows.drop_columns(["k0"]), "missing: k0"),
        (lambda rows: rows.append_column("new", rows["k0"]), "not of the state: new"),
        (lambda rows: rows.set_column(0, "k0", rows["sv$sum"]), "column k0 is int64, not string"),
        (lambda rows: rows.set_column(1, "c$count", pa.array([1.5] * len(rows))), "column c.count does not fit int64"),
        (lambda rows: pa.concat_tables([rows, rows]), r"several rows would have the key \((a|b|NULL)\)"),
        (lambda rows, more: rows, "failed: TypeError"),
    ],
)
def test_functions_that_are_refused(function: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(StateError, match=says):
        SavepointWriter.from_existing_savepoint(AGGREGATES).transform_state(ONE, function).rehearse()


def test_duplicate_keys_may_be_allowed() -> None:
    writer = SavepointWriter.from_existing_savepoint(AGGREGATES)
    writer.allow_duplicate_keys = True
    writer.transform_state(ONE, lambda rows: pa.concat_tables([rows, rows]))
    assert writer.rehearse().manifest.states[0].rows == 6


def test_rows_without_a_time_of_writing_begin_to_age_anew(tmp_path: Path) -> None:
    rows = SavepointReader.read(AGGREGATES).table(ONE).drop_columns(["rk_written"])
    SavepointWriter.from_existing_savepoint(AGGREGATES).with_state(ONE, rows).write(tmp_path / "new")
    assert column(tmp_path / "new", ONE, "rk_written") == [None] * 3


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("k0,", "k,", r"missing: k0; not of the state: k"),
        ("3.75", "3.755", r"column sd.sum: 1 value is no DECIMAL\(38, 2\), such as '3.755'"),
        (",2,2,", ",2,2.5,", "column cd.count: 1 value is no BIGINT, such as '2.5'"),
        (",2,2,", ",2,x,", "column cd.count: 1 value is no BIGINT, such as 'x'"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    file = tmp_path / "rows.csv"
    export_state(SavepointReader.read(AGGREGATES), ONE, file)
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(StateError, match=says):
        SavepointWriter.from_existing_savepoint(AGGREGATES).with_state(ONE, file).rehearse()


@pytest.mark.parametrize(
    ("name", "says"),
    [("nowhere.csv", "there is no such file"), ("rows.xml", "tells no format"), ("bad.json", "line 1 is no JSON")],
)
def test_files_that_cannot_be_read(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "bad.json").write_text("nonsense")
    with pytest.raises(StateError, match=says):
        SavepointWriter.from_existing_savepoint(AGGREGATES).with_state(ONE, tmp_path / name).rehearse()


def test_rows_are_edited(tmp_path: Path) -> None:
    sql = f"""
        UPDATE {TABLE} SET "sn$sum" = 100 WHERE k0 = 'a';
        DELETE FROM {TABLE} WHERE k0 IS NULL;
        INSERT INTO {TABLE} SELECT * REPLACE ('new' AS k0) FROM {TABLE} WHERE k0 = 'b'
    """
    migrated = SavepointWriter.from_existing_savepoint(AGGREGATES).edit(sql).write(tmp_path / "new")
    assert column(tmp_path / "new", ONE, "k0") == ["a", "b", "new"]
    assert column(tmp_path / "new", ONE, "sn$sum")[0] == 100
    assert [(step.title, step.detail) for step, _ in migrated.steps] == [(STATE, "2 rows out, 2 in")]
    assert table(tmp_path / "new", THREE).equals(table(AGGREGATES, THREE))


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        (f"DROP TABLE {TABLE}", "only UPDATE, DELETE, INSERT and MERGE"),
        ("SELECT 1", "only UPDATE"),
        ("", "only UPDATE"),
        (f"DELETE FROM {TABLE} WHERE k0 = 'nobody'", "change no row"),
        ("DELETE FROM nope", "nope does not exist"),
        (f"INSERT INTO {TABLE} (k0, \"sd$sum\") VALUES ('a', 1)", r"several rows would have the key \(a\)"),
        (f"UPDATE {TABLE} SET \"sn$sum\" = 'x'", "Could not convert"),
    ],
)
def test_edits_that_are_refused(sql: str, says: str) -> None:
    with pytest.raises(StateError, match=says):
        SavepointWriter.from_existing_savepoint(AGGREGATES).edit(sql).rehearse()


@pytest.mark.parametrize("groups", [0, -1, 1_000_000])
def test_a_parallelism_that_is_none(groups: int) -> None:
    with pytest.raises(StateError, match="is not between 1 and"):
        SavepointWriter.from_existing_savepoint(AGGREGATES).with_max_parallelism(groups).rehearse()


def test_another_parallelism_stands_in_plan_and_states(tmp_path: Path) -> None:
    SavepointWriter.from_existing_savepoint(AGGREGATES).with_max_parallelism(77).write(tmp_path / "new")
    assert {each.max_parallelism for each in read(tmp_path / "new").states} == {77}
    plan = load((tmp_path / "new" / PLAN).read_text())
    assert plan.max_parallelism == 77
    assert plan.nodes == load((AGGREGATES / PLAN).read_text()).nodes
