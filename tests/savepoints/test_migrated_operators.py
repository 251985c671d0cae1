"""Migrated savepoints: uids, states that go, operators that are split and merged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from execnodes.core.errors import StateError
from rekindle.savepoints.contents import read
from rekindle.savepoints.reader import SavepointReader
from rekindle.savepoints.workspace import Workspace
from rekindle.savepoints.writer import SavepointWriter
from tests.savepoints.saved import AGGREGATES, ONE, STATE, TABLE, THREE, TWO, column, described, table


def test_uids_are_renamed_all_at_once(tmp_path: Path) -> None:
    uids = {ONE: THREE, THREE: ONE, "1_source": "7_source"}
    migrated = (
        SavepointWriter.from_existing_savepoint(AGGREGATES).change_operator_identifier(uids).write(tmp_path / "new")
    )
    manifest = migrated.manifest
    assert table(tmp_path / "new", THREE).equals(table(AGGREGATES, ONE))
    assert table(tmp_path / "new", ONE).equals(table(AGGREGATES, THREE))
    assert set(manifest.positions) == set(manifest.sources) == {"7_source"}
    assert {each.sources for each in manifest.states} == {("7_source",)}
    assert [str(step) for step, _ in migrated.steps] == [
        "rename 7_source:position from 1_source",
        f"rename {THREE}:groupAggregateState from {STATE}, 3 rows",
        f"rename {STATE} from {THREE}:groupAggregateState, 2 rows",
    ]


def test_single_states_are_renamed(tmp_path: Path) -> None:
    values = {
        f"{TWO}:groupAggregateValues{one}": f"{TWO}:groupAggregateValues{other}" for one, other in ((1, 2), (2, 1))
    }
    writer = SavepointWriter.from_existing_savepoint(AGGREGATES).change_operator_identifier({**values, TWO: "9_x"})
    writer.write(tmp_path / "new")
    for old, new in values.items():
        assert table(tmp_path / "new", new).equals(table(AGGREGATES, old))
    assert table(tmp_path / "new", "9_x:groupAggregateState").equals(table(AGGREGATES, f"{TWO}:groupAggregateState"))


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
def test_uids_that_are_refused(uids: dict[str, str], says: str) -> None:
    with pytest.raises(StateError, match=says):
        SavepointWriter.from_existing_savepoint(AGGREGATES).change_operator_identifier(uids).rehearse()


def test_files_of_sources_move() -> None:
    before = read(AGGREGATES).positions["1_source"]
    migrated = (
        SavepointWriter.from_existing_savepoint(AGGREGATES).move_source_files("${dir}", "/else/where/").rehearse()
    )
    assert migrated.manifest.positions == {"1_source": before.replace("${dir}", "/else/where")}
    assert [str(step) for step, _ in migrated.steps] == ["move 1_source:position 1 file from ${dir}/ to /else/where/"]
    with pytest.raises(StateError, match="no source has read a file below /nowhere"):
        SavepointWriter.from_existing_savepoint(AGGREGATES).move_source_files("/nowhere", "/").rehearse()


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
def test_states_are_dropped(address: str, left: set[str]) -> None:
    manifest = SavepointWriter.from_existing_savepoint(AGGREGATES).remove_operator(address).rehearse().manifest
    assert {each.uid for each in manifest.states} == left
    assert address not in {each.title for each in manifest.states}
    assert bool(manifest.positions) == bool(manifest.sources) == (not address.startswith("1_source"))


@pytest.mark.parametrize("address", ["9_x", "9_x:position", f"{ONE}:nope"])
def test_what_is_not_there_cannot_be_dropped(address: str) -> None:
    with pytest.raises(StateError, match="there is no s"):
        SavepointWriter.from_existing_savepoint(AGGREGATES).remove_operator(address).rehearse()


def test_rows_are_split_and_merged(tmp_path: Path) -> None:
    writer = SavepointWriter.from_existing_savepoint(AGGREGATES)
    writer.split_operator(TWO, "20_a", TWO, "k0 = 'a'").write(tmp_path / "split")
    for each in ("groupAggregateState", "groupAggregateValues1"):
        assert set(column(tmp_path / "split", f"20_a:{each}", "k0")) == {"a"}
        assert set(column(tmp_path / "split", f"{TWO}:{each}", "k0")) == {"b", None}
    (state,) = (each for each in read(tmp_path / "split").states if each.title == "20_a:groupAggregateState")
    assert state.parts["rows"].text == "where (k0 = 'a') IS TRUE"
    merged = SavepointWriter.from_existing_savepoint(tmp_path / "split").merge_operators(["20_a", TWO], TWO)
    merged.write(tmp_path / "merged")
    # What the two halves mean together is what there was.
    whole = {each.title: described(each) for each in read(AGGREGATES).states}
    assert {each.title: described(each) for each in read(tmp_path / "merged").states} == whole
    for saved in read(AGGREGATES).states:
        assert table(tmp_path / "merged", saved.title).equals(table(AGGREGATES, saved.title))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema": (("k0", "STRING"),)}, "columns"),
        ({"key": ()}, "keys"),
        ({"bucketed": True}, "buckets"),
        ({"ttl_ms": 7}, "TTLs"),
    ],
)
def test_states_that_differ_are_not_merged(change: dict[str, Any], says: str) -> None:
    def differ(work: Workspace) -> None:
        for address, draft in work.drafts.items():
            if draft.state.uid == "20_a":
                work.drafts[address] = replace(draft, state=replace(draft.state, **change))

    writer = SavepointWriter.from_existing_savepoint(AGGREGATES).split_operator(ONE, "20_a", ONE, "k0 = 'a'")
    writer = writer._then(differ).merge_operators(["20_a", ONE], ONE)
    with pytest.raises(StateError, match=f"have different {says}"):
        writer.rehearse()


@pytest.mark.parametrize("key", ["'b'", "NULL"])
def test_operators_with_rows_of_one_key_are_not_merged(key: str) -> None:
    writer = SavepointWriter.from_existing_savepoint(AGGREGATES).split_operator(ONE, "20_a", ONE, "k0 = 'a'")
    copied = f"SELECT * FROM {TABLE} WHERE k0 IS NOT DISTINCT FROM {key}"
    writer = writer.edit(f'INSERT INTO "20_a"."groupAggregateState" {copied}').merge_operators(["20_a", ONE], ONE)
    shown = key.strip("'")
    with pytest.raises(StateError, match=rf"have rows of the key \({shown}\)"):
        writer.rehearse()


def test_parts_of_parts_are_not_the_whole(tmp_path: Path) -> None:
    writer = SavepointWriter.from_existing_savepoint(AGGREGATES)
    writer.split_operator(ONE, "20_a", "21_b", "k0 = 'a'").split_operator("21_b", "22_c", "23_d", "k0 = 'b'")
    writer.write(tmp_path / "split")
    again = SavepointWriter.from_existing_savepoint(tmp_path / "split")
    part = again.merge_operators(["20_a", "22_c"], "24_e").rehearse().manifest.states[-1]
    assert {label: term.text for label, term in part.parts.items() if label.startswith("rows")} == {
        "rows": "union of (where (k0 = 'a') IS TRUE) and (where (k0 = 'a') IS NOT TRUE)",
        "rows 2": "union of () and (where (k0 = 'b') IS TRUE)",
    }
    again = SavepointWriter.from_existing_savepoint(tmp_path / "split")
    whole = again.merge_operators(["23_d", "22_c"], "24_e").merge_operators(["24_e", "20_a"], ONE).rehearse().manifest
    assert described(whole.states[-1]) == described(read(AGGREGATES).states[0])


def test_columns_are_split(tmp_path: Path) -> None:
    targets = {
        "20_a": ["dv$count", "groupAggregateValues0", "dv$occurrences"],
        "21_b": ["dn$sum", "fs$count", "ls$list", "groupAggregateValues1", "groupAggregateValues2"],
    }
    SavepointWriter.from_existing_savepoint(AGGREGATES).split_operator_columns(TWO, targets).write(tmp_path / "new")
    found = {each.title: [name for name, _ in each.schema] for each in read(tmp_path / "new").states}
    assert found["20_a:groupAggregateState"] == ["k0", "dv$count"]
    assert found["21_b:groupAggregateState"] == ["k0", "dn$sum", "fs$count", "ls$list"]
    assert "21_b:groupAggregateValues0" not in found
    names = ["k0", "dv$count", "rk_written"]
    split = SavepointReader.read(tmp_path / "new").table("20_a:groupAggregateState")
    assert split.equals(SavepointReader.read(AGGREGATES).table(f"{TWO}:groupAggregateState").select(names))
    # What the columns mean has not changed, so a plan of two AGGREGATES goes on with them.
    meanings = {each.title: each.meanings for each in read(tmp_path / "new").states}
    assert meanings["20_a:groupAggregateState"][1] == read(AGGREGATES).states[1].meanings[1]


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
def test_splits_and_merges_that_are_refused(migrate: Callable[[SavepointWriter], SavepointWriter], says: str) -> None:
    with pytest.raises(StateError, match=says):
        migrate(SavepointWriter.from_existing_savepoint(AGGREGATES)).rehearse()


def test_a_condition_that_parts_a_key_is_refused() -> None:
    values = f"{TWO}:groupAggregateValues1"
    assert len(set(column(AGGREGATES, values, "k0"))) < read(AGGREGATES).states[3].rows
    writer = SavepointWriter.from_existing_savepoint(AGGREGATES)
    for each in read(AGGREGATES).states:
        if each.uid == TWO and each.title != values:
            writer.remove_operator(each.title)
    with pytest.raises(StateError, match=r"rows of the key \((a|b|NULL)\) would be in both operators"):
        writer.split_operator(TWO, "20_a", "21_b", "value = 1").rehearse()


def test_keys_in_two_operators_are_named(tmp_path: Path) -> None:
    writer = SavepointWriter.from_existing_savepoint(AGGREGATES)
    writer.split_operator(ONE, "20_a", "21_b", "k0 = 'a'").write(tmp_path / "split")
    again = SavepointWriter.from_existing_savepoint(tmp_path / "split")
    again.edit("""INSERT INTO "20_a".groupAggregateState FROM "21_b".groupAggregateState WHERE k0 = 'b'""")
    with pytest.raises(StateError, match=r"both 20_a:\S+ and 21_b:\S+ have rows of the key \(b\)"):
        again.merge_operators(["20_a", "21_b"], ONE).rehearse()
