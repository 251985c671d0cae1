"""Savepoints made from others, without Spark: what changes, what stays, what is refused."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from execnodes.core.errors import StateError
from plans.load import load
from rekindle.compiled_plan import CompiledPlan
from rekindle.savepoints.exchange import export_state
from rekindle.savepoints.frames import library_of
from rekindle.savepoints.manifest import PLAN, SavedState, read
from rekindle.savepoints.migrations.adopt import PlanRefused
from rekindle.savepoints.planned import planned_states
from rekindle.savepoints.reader import SavepointReader
from rekindle.savepoints.restore import prepare
from rekindle.savepoints.writer import SavepointWriter
from rekindle.table_environment import TableEnvironment
from tests.restore.program import FIXTURES

SAVEPOINTS = sorted(each.parent for each in FIXTURES.glob("*/*/savepoint/manifest.json"))
ONE, TWO, THREE = "4_group-aggregate", "8_group-aggregate", "12_group-aggregate"
STATE = f"{ONE}:groupAggregateState"
TABLE = f'"{ONE}"."groupAggregateState"'
fixtures = pytest.mark.parametrize("folder", SAVEPOINTS, ids=lambda each: f"{each.parts[-3]}/{each.parts[-2]}")


@pytest.fixture(scope="module")
def aggregates() -> Path:
    """Three aggregates over one source; the second has states of DISTINCT values."""
    return FIXTURES / "stream-exec-group-aggregate_1/ttl/savepoint"


def table(folder: Path, address: str) -> pa.Table:
    found = SavepointReader.read(folder).table(address)
    return found.sort_by([(name, "ascending") for name in found.column_names])


def column(folder: Path, address: str, name: str) -> list[Any]:
    return table(folder, address)[name].to_pylist()


def described(state: SavedState) -> SavedState:
    """Without what depends on how the files were written."""
    return replace(state, bytes=0, files={})


def content(folder: Path) -> dict[str, str]:
    files = (each for each in sorted(folder.rglob("*")) if each.is_file())
    return {str(each.relative_to(folder)): hashlib.sha256(each.read_bytes()).hexdigest() for each in files}


# Whole savepoints


@fixtures
def test_a_copy_is_the_same(folder: Path, tmp_path: Path) -> None:
    before = content(folder)
    copied = SavepointWriter.from_existing_savepoint(folder).write(tmp_path / "new").manifest
    original = read(folder)
    assert copied == read(tmp_path / "new")
    assert replace(copied, states=()) == replace(original, states=())
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
    writer.with_plan(CompiledPlan.from_file(folder / PLAN)).with_max_parallelism(5)
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


def test_a_savepoint_may_be_moved(aggregates: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    SavepointWriter.from_existing_savepoint(aggregates).with_max_parallelism(3).write("made/here")
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


def test_a_failure_leaves_nothing_behind(aggregates: Path, tmp_path: Path) -> None:
    writer = SavepointWriter.from_existing_savepoint(aggregates)
    writer.change_operator_identifier({ONE: "14_x"}).transform_state("14_x", _fails)
    with pytest.raises(StateError, match=r"rows 0 to 2: .*_fails failed: ValueError: nothing fits"):
        writer.write(tmp_path / "new")
    assert list(tmp_path.iterdir()) == []
    assert SavepointWriter.from_existing_savepoint(aggregates).rehearse().manifest.states
    assert list(tmp_path.iterdir()) == []


def test_only_a_new_folder_is_written(aggregates: Path, tmp_path: Path) -> None:
    saved = tmp_path / "saved"
    shutil.copytree(aggregates, saved)
    for target, says in ((saved, "exists already"), (saved / "new", "inside the old savepoint")):
        with pytest.raises(StateError, match=says):
            SavepointWriter.from_existing_savepoint(saved).write(target)
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="cannot be written"):
        SavepointWriter.from_existing_savepoint(saved).write(tmp_path / "file" / "new")
    assert content(saved) == content(aggregates)


def test_history_goes_on(aggregates: Path, tmp_path: Path) -> None:
    SavepointWriter.from_existing_savepoint(aggregates).edit(f"DELETE FROM {TABLE} WHERE k0 = 'a'").write(
        tmp_path / "1"
    )
    SavepointWriter.from_existing_savepoint(tmp_path / "1").remove_operator(THREE).write(tmp_path / "2")
    found = [(each.operation, each.title, each.rows_before, each.rows_after) for each in read(tmp_path / "2").history]
    assert found == [("edit", STATE, 3, 2), ("drop", f"{THREE}:groupAggregateState", 2, 0)]
    with SavepointReader.read(tmp_path / "2").query("SELECT operation FROM savepoint_history") as (_, rows):
        assert list(rows) == [("edit",), ("drop",)]


# Uids


def test_uids_are_renamed_all_at_once(aggregates: Path, tmp_path: Path) -> None:
    uids = {ONE: THREE, THREE: ONE, "1_source": "7_source"}
    migrated = (
        SavepointWriter.from_existing_savepoint(aggregates).change_operator_identifier(uids).write(tmp_path / "new")
    )
    manifest = migrated.manifest
    assert table(tmp_path / "new", THREE).equals(table(aggregates, ONE))
    assert table(tmp_path / "new", ONE).equals(table(aggregates, THREE))
    assert set(manifest.positions) == set(manifest.sources) == {"7_source"}
    assert {each.sources for each in manifest.states} == {("7_source",)}
    assert [str(step) for step, _ in migrated.steps] == [
        "rename 7_source:position from 1_source",
        f"rename {THREE}:groupAggregateState from {STATE}, 3 rows",
        f"rename {STATE} from {THREE}:groupAggregateState, 2 rows",
    ]


def test_single_states_are_renamed(aggregates: Path, tmp_path: Path) -> None:
    values = {
        f"{TWO}:groupAggregateValues{one}": f"{TWO}:groupAggregateValues{other}" for one, other in ((1, 2), (2, 1))
    }
    writer = SavepointWriter.from_existing_savepoint(aggregates).change_operator_identifier({**values, TWO: "9_x"})
    writer.write(tmp_path / "new")
    for old, new in values.items():
        assert table(tmp_path / "new", new).equals(table(aggregates, old))
    assert table(tmp_path / "new", "9_x:groupAggregateState").equals(table(aggregates, f"{TWO}:groupAggregateState"))


@pytest.mark.parametrize(
    ("uids", "says"),
    [
        ({"9_x": "10_x"}, "the savepoint has no uid 9_x"),
        ({ONE: TWO}, f"two operators would have the uid {TWO}"),
        ({ONE: "9_x", TWO: "9_x"}, "two operators would have the uid 9_x"),
        ({ONE: "../9_x"}, "is no uid"),
        ({ONE: ""}, "is no uid"),
        ({ONE: "9_x:s"}, "are not alike"),
        ({STATE: "9_x"}, "are not alike"),
        ({STATE: "9_x:"}, "is no uid"),
        ({STATE: f"{TWO}:groupAggregateState"}, f"two states would be called {TWO}:groupAggregateState"),
    ],
)
def test_uids_that_are_refused(aggregates: Path, uids: dict[str, str], says: str) -> None:
    with pytest.raises(StateError, match=says):
        SavepointWriter.from_existing_savepoint(aggregates).change_operator_identifier(uids).rehearse()


def test_files_of_sources_move(aggregates: Path) -> None:
    before = read(aggregates).positions["1_source"]
    migrated = (
        SavepointWriter.from_existing_savepoint(aggregates).move_source_files("${dir}", "/else/where/").rehearse()
    )
    assert migrated.manifest.positions == {"1_source": before.replace("${dir}", "/else/where")}
    assert [str(step) for step, _ in migrated.steps] == ["move 1_source:position 1 file from ${dir}/ to /else/where/"]
    with pytest.raises(StateError, match="no source has read a file below /nowhere"):
        SavepointWriter.from_existing_savepoint(aggregates).move_source_files("/nowhere", "/").rehearse()


# States that go


@pytest.mark.parametrize(
    ("address", "left"),
    [
        (ONE, {TWO, THREE}),
        (TWO, {ONE, THREE}),
        (f"{TWO}:groupAggregateState", {ONE, TWO, THREE}),
        ("1_source:position", {ONE, TWO, THREE}),
        ("1_source", {ONE, TWO, THREE}),
    ],
)
def test_states_are_dropped(aggregates: Path, address: str, left: set[str]) -> None:
    manifest = SavepointWriter.from_existing_savepoint(aggregates).remove_operator(address).rehearse().manifest
    assert {each.uid for each in manifest.states} == left
    assert address not in {each.title for each in manifest.states}
    assert bool(manifest.positions) == bool(manifest.sources) == (not address.startswith("1_source"))


@pytest.mark.parametrize("address", ["9_x", "9_x:position", f"{ONE}:nope"])
def test_what_is_not_there_cannot_be_dropped(aggregates: Path, address: str) -> None:
    with pytest.raises(StateError, match="there is no s"):
        SavepointWriter.from_existing_savepoint(aggregates).remove_operator(address).rehearse()


# Split and merge


def test_rows_are_split_and_merged(aggregates: Path, tmp_path: Path) -> None:
    writer = SavepointWriter.from_existing_savepoint(aggregates)
    writer.split_operator(TWO, "20_a", TWO, "k0 = 'a'").write(tmp_path / "split")
    for each in ("groupAggregateState", "groupAggregateValues1"):
        assert set(column(tmp_path / "split", f"20_a:{each}", "k0")) == {"a"}
        assert set(column(tmp_path / "split", f"{TWO}:{each}", "k0")) == {"b", None}
    (state,) = (each for each in read(tmp_path / "split").states if each.title == "20_a:groupAggregateState")
    assert state.parts["rows"] == "where (k0 = 'a') IS TRUE"
    merged = SavepointWriter.from_existing_savepoint(tmp_path / "split").merge_operators(["20_a", TWO], TWO)
    merged.write(tmp_path / "merged")
    # What the two halves mean together is what there was.
    whole = {each.title: described(each) for each in read(aggregates).states}
    assert {each.title: described(each) for each in read(tmp_path / "merged").states} == whole
    for each in read(aggregates).states:
        assert table(tmp_path / "merged", each.title).equals(table(aggregates, each.title))


def test_parts_of_parts_are_not_the_whole(aggregates: Path, tmp_path: Path) -> None:
    writer = SavepointWriter.from_existing_savepoint(aggregates)
    writer.split_operator(ONE, "20_a", "21_b", "k0 = 'a'").split_operator("21_b", "22_c", "23_d", "k0 = 'b'")
    writer.write(tmp_path / "split")
    again = SavepointWriter.from_existing_savepoint(tmp_path / "split")
    part = again.merge_operators(["20_a", "22_c"], "24_e").rehearse().manifest.states[-1]
    assert {label: text for label, text in part.parts.items() if label.startswith("rows")} == {
        "rows": "union of (where (k0 = 'a') IS TRUE) and (where (k0 = 'a') IS NOT TRUE)",
        "rows 2": "union of () and (where (k0 = 'b') IS TRUE)",
    }
    again = SavepointWriter.from_existing_savepoint(tmp_path / "split")
    whole = again.merge_operators(["23_d", "22_c"], "24_e").merge_operators(["24_e", "20_a"], ONE).rehearse().manifest
    assert described(whole.states[-1]) == described(read(aggregates).states[0])


def test_columns_are_split(aggregates: Path, tmp_path: Path) -> None:
    targets = {
        "20_a": ["dv$count", "groupAggregateValues0", "dv$occurrences"],
        "21_b": ["dn$sum", "fs$count", "ls$list", "groupAggregateValues1", "groupAggregateValues2"],
    }
    SavepointWriter.from_existing_savepoint(aggregates).split_operator_columns(TWO, targets).write(tmp_path / "new")
    found = {each.title: [name for name, _ in each.schema] for each in read(tmp_path / "new").states}
    assert found["20_a:groupAggregateState"] == ["k0", "dv$count"]
    assert found["21_b:groupAggregateState"] == ["k0", "dn$sum", "fs$count", "ls$list"]
    assert "21_b:groupAggregateValues0" not in found
    names = ["k0", "dv$count", "rk_written"]
    split = SavepointReader.read(tmp_path / "new").table("20_a:groupAggregateState")
    assert split.equals(SavepointReader.read(aggregates).table(f"{TWO}:groupAggregateState").select(names))
    # What the columns mean has not changed, so a plan of two aggregates goes on with them.
    meanings = {each.title: each.meanings for each in read(tmp_path / "new").states}
    assert meanings["20_a:groupAggregateState"][1] == read(aggregates).states[1].meanings[1]


@pytest.mark.parametrize(
    ("migrate", "says"),
    [
        (lambda w: w.split_operator(ONE, "20_a", "20_a", "true"), "needs two different uids"),
        (lambda w: w.split_operator(ONE, "20_a", TWO, "true"), f"there is an operator {TWO} already"),
        (lambda w: w.split_operator("9_x", "20_a", "21_b", "true"), "no state of an operator 9_x"),
        (lambda w: w.split_operator(ONE, "20_a", "21_b", "nope = 1"), '"nope" not found'),
        (
            lambda w: w.split_operator(TWO, "20_a", "21_b", "rowid = 0"),
            r"rows of the key \(.*\) would be in both operators|rowid",
        ),
        (lambda w: w.split_operator_columns(ONE, {"20_a": ["c$count"], "21_b": []}), "no operator would get cd.count"),
        (lambda w: w.split_operator_columns(ONE, {"20_a": ["nope"], "21_b": []}), "has no column nope"),
        (lambda w: w.merge_operators([ONE, TWO], "20_a"), "different states"),
        (lambda w: w.merge_operators([ONE, THREE], "20_a"), "different columns"),
        (lambda w: w.merge_operators([ONE], "20_a"), "two or more"),
        (lambda w: w.merge_operators([ONE, THREE], TWO), f"there is an operator {TWO} already"),
    ],
)
def test_splits_and_merges_that_are_refused(
    aggregates: Path, migrate: Callable[[SavepointWriter], SavepointWriter], says: str
) -> None:
    with pytest.raises(StateError, match=says):
        migrate(SavepointWriter.from_existing_savepoint(aggregates)).rehearse()


def test_a_condition_that_parts_a_key_is_refused(aggregates: Path) -> None:
    values = f"{TWO}:groupAggregateValues1"
    assert len(set(column(aggregates, values, "k0"))) < read(aggregates).states[3].rows
    writer = SavepointWriter.from_existing_savepoint(aggregates)
    for each in read(aggregates).states:
        if each.uid == TWO and each.title != values:
            writer.remove_operator(each.title)
    with pytest.raises(StateError, match=r"rows of the key \((a|b|NULL)\) would be in both operators"):
        writer.split_operator(TWO, "20_a", "21_b", "value = 1").rehearse()


def test_keys_in_two_operators_are_named(aggregates: Path, tmp_path: Path) -> None:
    writer = SavepointWriter.from_existing_savepoint(aggregates)
    writer.split_operator(ONE, "20_a", "21_b", "k0 = 'a'").write(tmp_path / "split")
    again = SavepointWriter.from_existing_savepoint(tmp_path / "split")
    again.edit("""INSERT INTO "20_a".groupAggregateState FROM "21_b".groupAggregateState WHERE k0 = 'b'""")
    with pytest.raises(StateError, match=r"both 20_a:\S+ and 21_b:\S+ have rows of the key \(b\)"):
        again.merge_operators(["20_a", "21_b"], ONE).rehearse()


# Rows


def _doubled(rows: pa.Table) -> pa.Table:
    at = rows.column_names.index("sv$sum")
    return rows.set_column(at, "sv$sum", pc.multiply(rows["sv$sum"], 2))


def test_rows_are_transformed(aggregates: Path, tmp_path: Path) -> None:
    SavepointWriter.from_existing_savepoint(aggregates).transform_state(ONE, _doubled).write(tmp_path / "new")
    assert column(tmp_path / "new", ONE, "sv$sum") == [each and 2 * each for each in column(aggregates, ONE, "sv$sum")]
    assert column(tmp_path / "new", ONE, "sd$sum") == column(aggregates, ONE, "sd$sum")


def _annotated(annotation: object) -> Callable[[Any], Any]:
    def function(rows: Any) -> Any:
        return rows

    function.__annotations__["rows"] = annotation
    return function


@pytest.mark.parametrize(
    ("function", "library"),
    [
        (_polars, "polars"),
        (_pandas, "pandas"),
        (_arrow, "pyarrow"),
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
def test_functions_that_are_refused(aggregates: Path, function: Callable[[Any], Any], says: str) -> None:
    with pytest.raises(StateError, match=says):
        SavepointWriter.from_existing_savepoint(aggregates).transform_state(ONE, function).rehearse()


def test_duplicate_keys_may_be_allowed(aggregates: Path) -> None:
    writer = SavepointWriter.from_existing_savepoint(aggregates)
    writer.allow_duplicate_keys = True
    writer.transform_state(ONE, lambda rows: pa.concat_tables([rows, rows]))
    assert writer.rehearse().manifest.states[0].rows == 6


def test_rows_without_a_time_of_writing_begin_to_age_anew(aggregates: Path, tmp_path: Path) -> None:
    rows = SavepointReader.read(aggregates).table(ONE).drop_columns(["rk_written"])
    SavepointWriter.from_existing_savepoint(aggregates).with_state(ONE, rows).write(tmp_path / "new")
    assert column(tmp_path / "new", ONE, "rk_written") == [None] * 3


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("k0,", "k,", r"missing: k0; not of the state: k"),
        ("3.75", "3.755", r"column sd.sum: 1 values are no DECIMAL\(38, 2\), such as '3.755'"),
        (",2,2,", ",2,2.5,", "column cd.count: 1 values are no BIGINT, such as '2.5'"),
        (",2,2,", ",2,x,", "column cd.count: 1 values are no BIGINT, such as 'x'"),
    ],
)
def test_files_that_are_refused(aggregates: Path, tmp_path: Path, old: str, new: str, says: str) -> None:
    file = tmp_path / "rows.csv"
    export_state(SavepointReader.read(aggregates), ONE, file)
    assert old in file.read_text()
    file.write_text(file.read_text().replace(old, new, 1))
    with pytest.raises(StateError, match=says):
        SavepointWriter.from_existing_savepoint(aggregates).with_state(ONE, file).rehearse()


@pytest.mark.parametrize(
    ("name", "says"),
    [("nowhere.csv", "there is no such file"), ("rows.xml", "tells no format"), ("bad.json", "line 1 is no JSON")],
)
def test_files_that_cannot_be_read(aggregates: Path, tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / "bad.json").write_text("nonsense")
    with pytest.raises(StateError, match=says):
        SavepointWriter.from_existing_savepoint(aggregates).with_state(ONE, tmp_path / name).rehearse()


def test_rows_are_edited(aggregates: Path, tmp_path: Path) -> None:
    sql = f"""
        UPDATE {TABLE} SET "sn$sum" = 100 WHERE k0 = 'a';
        DELETE FROM {TABLE} WHERE k0 IS NULL;
        INSERT INTO {TABLE} SELECT * REPLACE ('new' AS k0) FROM {TABLE} WHERE k0 = 'b'
    """
    migrated = SavepointWriter.from_existing_savepoint(aggregates).edit(sql).write(tmp_path / "new")
    assert column(tmp_path / "new", ONE, "k0") == ["a", "b", "new"]
    assert column(tmp_path / "new", ONE, "sn$sum")[0] == 100
    assert [(step.title, step.detail) for step, _ in migrated.steps] == [(STATE, "2 rows out, 2 in")]
    assert table(tmp_path / "new", THREE).equals(table(aggregates, THREE))


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
def test_edits_that_are_refused(aggregates: Path, sql: str, says: str) -> None:
    with pytest.raises(StateError, match=says):
        SavepointWriter.from_existing_savepoint(aggregates).edit(sql).rehearse()


@pytest.mark.parametrize("groups", [0, -1, 1_000_000])
def test_a_parallelism_that_is_none(aggregates: Path, groups: int) -> None:
    with pytest.raises(StateError, match="is not between 1 and"):
        SavepointWriter.from_existing_savepoint(aggregates).with_max_parallelism(groups).rehearse()


def test_another_parallelism_stands_in_plan_and_states(aggregates: Path, tmp_path: Path) -> None:
    SavepointWriter.from_existing_savepoint(aggregates).with_max_parallelism(77).write(tmp_path / "new")
    assert {each.max_parallelism for each in read(tmp_path / "new").states} == {77}
    plan = load((tmp_path / "new" / PLAN).read_text())
    assert plan.max_parallelism == 77
    assert plan.nodes == load((aggregates / PLAN).read_text()).nodes


# Plans

TABLES = """
CREATE TABLE t (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/nowhere', 'format' = 'json');
"""


def plan(query: str, **options: str) -> CompiledPlan:
    settings = {"table.optimizer.agg-phase-strategy": "ONE_PHASE", **options}
    return TableEnvironment.create(settings).compile_script(f"{TABLES} {query};")


OLD = plan("SELECT k, SUM(v) AS s, COUNT(*) AS c FROM t GROUP BY k")
((UID, NAME),) = planned_states(OLD.graph)


@pytest.fixture
def made(tmp_path: Path) -> Path:
    """A savepoint of `OLD`, from rows."""
    rows = pa.table({"k0": ["a", "b", None], "s$sum": [1, 2, None], "c$count": [1, 1, 4]})
    SavepointWriter.new_savepoint(OLD).with_state(f"{UID}:{NAME}", rows).write(tmp_path / "made")
    return tmp_path / "made"


def test_a_savepoint_made_from_rows_is_restored(made: Path) -> None:
    restore = prepare(made, OLD.graph, drop_unclaimed=False, drop=frozenset())
    assert {(each.name, each.fate, each.rows) for each in restore.fates} == {
        ("position", "restored", 0),
        (NAME, "restored", 3),
    }
    assert restore.positions == {}


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT k, SUM(v) AS s, COUNT(*) AS c FROM t GROUP BY k", ["k0", "s$sum", "c$count"]),
        ("SELECT k, COUNT(*) AS n, SUM(v) AS total FROM t GROUP BY k", ["k0", "n$count", "total$sum"]),
        ("SELECT k, SUM(v) AS total FROM t GROUP BY k", ["k0", "total$sum"]),
    ],
)
def test_states_are_converted_to_the_plans_columns(made: Path, tmp_path: Path, query: str, columns: list[str]) -> None:
    new = plan(query)
    SavepointWriter.from_existing_savepoint(made).with_plan(new).write(tmp_path / "new")
    (state,) = read(tmp_path / "new").states
    assert [name for name, _ in state.schema] == columns
    sums = next(name for name in columns if name.endswith("sum"))
    assert column(tmp_path / "new", UID, sums) == [1, 2, None]
    assert (tmp_path / "new" / PLAN).read_text() == new.as_json_string()
    restore = prepare(tmp_path / "new", new.graph, drop_unclaimed=False, drop=frozenset())
    assert {each.fate for each in restore.fates} == {"restored"}
    assert all(mine == theirs for kept in restore.kept.values() for mine, theirs in kept.columns.items())


@pytest.mark.parametrize(
    ("query", "options", "verdict"),
    [
        ("SELECT k, MAX(v) AS s, COUNT(*) AS c FROM t GROUP BY k", {}, "partial"),
        ("SELECT k, MAX(v) AS s FROM t GROUP BY k", {}, "incompatible"),
        ("SELECT v AS k, SUM(v) AS s, COUNT(*) AS c FROM t GROUP BY v", {}, "incompatible"),
        ("SELECT k, SUM(v) AS s, COUNT(*) AS c FROM t WHERE v > 0 GROUP BY k", {}, "partial"),
        ("SELECT * FROM t", {}, "partial"),
        ("SELECT k, SUM(v) AS s, COUNT(*) AS c FROM t GROUP BY k", {"table.exec.state.ttl": "1 h"}, "unknown"),
    ],
)
def test_plans_that_are_refused(made: Path, tmp_path: Path, query: str, options: dict[str, str], verdict: str) -> None:
    with pytest.raises(PlanRefused) as refused:
        SavepointWriter.from_existing_savepoint(made).with_plan(plan(query, **options)).write(tmp_path / "new")
    assert refused.value.verdict == verdict
    assert not (tmp_path / "new").exists()


def test_columns_that_start_empty_need_consent(made: Path, tmp_path: Path) -> None:
    query = plan("SELECT k, MAX(k) AS s, COUNT(*) AS c FROM t GROUP BY k")
    writer = SavepointWriter.from_existing_savepoint(made)
    with pytest.raises(PlanRefused, match=r"column s\$max: .*starts empty"):
        writer.with_plan(query).write(tmp_path / "refused")
    SavepointWriter.from_existing_savepoint(made).with_plan(query, allow_non_restored_state=True).write(
        tmp_path / "new"
    )
    assert column(tmp_path / "new", UID, "s$max") == [None] * 3
    restore = prepare(tmp_path / "new", query.graph, drop_unclaimed=False, drop=frozenset())
    assert {each.fate for each in restore.fates} == {"restored"}


def test_a_plan_with_another_input_goes_on_after_it_has_been_put_in(made: Path, tmp_path: Path) -> None:
    more = plan(
        "CREATE TABLE r (k STRING, v INT) WITH ('connector' = 'filesystem', 'path' = '/there', 'format' = 'json');"
        "SELECT k, SUM(v) AS s, COUNT(*) AS c FROM (SELECT * FROM t UNION ALL SELECT * FROM r) GROUP BY k"
    )
    ((fresh, _),) = planned_states(more.graph)
    writer = SavepointWriter.from_existing_savepoint(made).change_operator_identifier({UID: fresh})
    migrated = writer.with_plan(more, allow_non_restored_state=True).write(tmp_path / "new")
    (begun,) = (step for step, _ in migrated.steps if step.operation == "empty")
    assert (begun.name, begun.uid in migrated.manifest.positions) == ("position", False)
    restore = prepare(tmp_path / "new", more.graph, drop_unclaimed=False, drop=frozenset())
    assert {(each.name, each.fate, each.rows) for each in restore.fates} == {
        ("position", "restored", 0),
        (NAME, "restored", 3),
    }


def test_losses_need_consent(made: Path, tmp_path: Path) -> None:
    writer = SavepointWriter.from_existing_savepoint(made)
    migrated = writer.with_plan(plan("SELECT * FROM t"), allow_non_restored_state=True).write(tmp_path / "new")
    assert [(step.operation, step.rows_before) for step, _ in migrated.steps] == [("drop", 3)]
    assert migrated.manifest.states == ()
    assert set(migrated.manifest.sources) == {"1_source"}


def _cents(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.select("k0", (pl.col("s$sum") * 100).alias("cents$sum"), pl.lit(0, pl.Int64).alias("big$count"))


NEW = plan("SELECT k, SUM(v * 100) AS cents, COUNT(*) FILTER (WHERE v > 10) AS big FROM t GROUP BY k")
((SCALED, _),) = planned_states(NEW.graph)


def test_a_function_makes_what_another_plan_means(made: Path, tmp_path: Path) -> None:
    title = f"{SCALED}:{NAME}"
    writer = SavepointWriter.from_existing_savepoint(made).change_operator_identifier({UID: SCALED})
    writer.transform_state(title, _cents)
    writer.with_plan(NEW, accept=[title]).write(tmp_path / "new")
    assert column(tmp_path / "new", title, "cents$sum") == [100, 200, None]
    restore = prepare(tmp_path / "new", NEW.graph, drop_unclaimed=False, drop=frozenset())
    assert {each.fate for each in restore.fates} == {"restored"}
    (_, (step, _), (kept, _)) = writer.rehearse().steps
    assert [name for name, _ in step.schema_before] == ["k0", "s$sum", "c$count"]
    assert (kept.operation, kept.detail) == ("keep", "meaning accepted")


def test_an_accepted_meaning_still_needs_its_columns(made: Path) -> None:
    title = f"{SCALED}:{NAME}"
    renamed = SavepointWriter.from_existing_savepoint(made).change_operator_identifier({UID: SCALED})
    with pytest.raises(StateError, match=r"lack columns of the plan's state: column cents.sum BIGINT: missing"):
        renamed.with_plan(NEW, accept=[title]).rehearse()
    with pytest.raises(StateError, match="no state 9_x:s whose meaning could be accepted"):
        SavepointWriter.from_existing_savepoint(made).with_plan(NEW, accept=["9_x:s"]).rehearse()


def test_a_state_that_only_the_plan_has_is_imported(made: Path, tmp_path: Path) -> None:
    both = plan(
        "CREATE TABLE a (k STRING, s INT, c BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print');"
        "CREATE TABLE b (v INT, c BIGINT, PRIMARY KEY (v) NOT ENFORCED) WITH ('connector' = 'print');"
        "EXECUTE STATEMENT SET BEGIN INSERT INTO a SELECT k, SUM(v), COUNT(*) FROM t GROUP BY k;"
        "INSERT INTO b SELECT v, COUNT(*) FROM t GROUP BY v; END"
    )
    first, second = planned_states(both.graph).values()
    rows = pa.table({name: pa.array([1, 2], pa.int32()) for name, _ in second.schema})
    writer = SavepointWriter.from_existing_savepoint(made).change_operator_identifier({UID: first.uid})
    manifest = writer.with_state(second.title, rows).with_plan(both).write(tmp_path / "new").manifest
    assert [(each.title, each.rows) for each in manifest.states] == [(first.title, 3), (second.title, 2)]
    restore = prepare(tmp_path / "new", both.graph, drop_unclaimed=False, drop=frozenset())
    assert {each.fate for each in restore.fates} == {"restored"}
    with pytest.raises(StateError, match="neither savepoint nor plan has the one state 99_x"):
        SavepointWriter.from_existing_savepoint(made).with_state("99_x:s", rows).rehearse()


def test_whole_numbers_stay_in_their_range(tmp_path: Path) -> None:
    both = plan("SELECT v, COUNT(*) AS c FROM t GROUP BY v")
    (state,) = planned_states(both.graph).values()
    rows = pa.table({"k0": [2**31], "c$count": [1]})
    with pytest.raises(StateError, match=r"column k0: 1 values are no INT, such as 2147483648"):
        SavepointWriter.new_savepoint(both).with_state(state.title, rows).rehearse()


def test_names_that_differ_in_case_alone_stay_apart(tmp_path: Path) -> None:
    cased = plan("SELECT k, SUM(v) AS a, COUNT(v) AS A, SUM(v + 1) AS `A` FROM t GROUP BY k".replace("AS A,", "AS b,"))
    (state,) = planned_states(cased.graph).values()
    names = [name for name, _ in state.schema]
    assert {"a$sum", "A$sum"} <= set(names)
    rows = pa.table({name: ["x"] if name == "k0" else [number] for number, name in enumerate(names)})
    SavepointWriter.new_savepoint(cased).with_state(state.title, rows).write(tmp_path / "1")
    changed = f'UPDATE "{state.uid}"."{state.name}" SET "A$sum_1" = 100'
    SavepointWriter.from_existing_savepoint(tmp_path / "1").edit(changed).write(tmp_path / "2")
    before, after = (SavepointReader.read(tmp_path / each).table(state.title).to_pylist()[0] for each in "12")
    assert before == rows.to_pylist()[0]
    assert after == {**before, "A$sum": 100}
