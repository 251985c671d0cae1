"""Savepoints are read without Spark: rows, SQL, keys, key groups, files for others."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from execnodes.core.errors import StateError
from rekindle.savepoints.exchange import export_state
from rekindle.savepoints.reader import SavepointReader
from tests.restore.program import FIXTURES

SAVEPOINTS = sorted(each.parent for each in FIXTURES.glob("*/*/savepoint/manifest.json"))
AGGREGATES = FIXTURES / "stream-exec-group-aggregate_1/ttl/savepoint"
JOINS = FIXTURES / "stream-exec-join_1/ttl/savepoint"
AGGREGATE = '"4_group-aggregate"."groupAggregateState"'


@pytest.mark.parametrize("folder", SAVEPOINTS, ids=lambda each: each.parent.name)
def test_every_state_of_every_fixture_is_read(folder: Path) -> None:
    reader = SavepointReader.read(folder)
    with reader.query("SELECT uid || ':' || name, rows FROM savepoint") as (_, rows):
        assert list(rows) == [(each.title, each.rows) for each in reader.states]
    with reader.query("SELECT uid || ':' || name, sum(rows), count(*) FROM savepoint_key_groups GROUP BY 1") as (
        _,
        rows,
    ):
        assert sorted(rows) == sorted((each.title, each.rows, each.max_parallelism) for each in reader.states)
    for state in reader.states:
        table = reader.table(state.title)
        assert table.num_rows == state.rows
        assert [name for name in table.column_names if not name.startswith("rk_")] == [
            name for name, _ in state.schema if not name.startswith("rk_")
        ]
        assert len(reader.rows(state.title, 1)) == min(1, state.rows)


def test_rows_with_sql() -> None:
    reader = SavepointReader.read(AGGREGATES)
    with reader.query(f'SELECT k0, "sd$sum" FROM {AGGREGATE} WHERE k0 IS NOT NULL ORDER BY k0;') as (columns, rows):
        assert columns == ("k0", "sd$sum")
        assert [(k, str(d)) for k, d in rows] == [("a", "3.75"), ("b", "5.75")]
    with reader.query("SELECT count(*) FROM groupAggregateValues0 JOIN savepoint ON true") as (_, rows):
        assert next(rows)[0] > 0
    with reader.query("SELECT now(), 1 AS a, 2 AS a") as (columns, rows):
        assert columns[1:] == ("a", "a")
        assert isinstance(next(rows)[0], str)


@pytest.mark.parametrize(
    ("sql", "says"),
    [
        (f"DELETE FROM {AGGREGATE}", "this is not one SELECT"),
        ("SELECT 1; SELECT 2", "this is not one SELECT"),
        ("", "this is not one SELECT"),
        ("COPY (SELECT 1) TO 'x.csv'", "this is not one SELECT"),
        ("SELEC 1", "syntax error"),
        ("SELECT * FROM groupAggregateState", 'Tables:\nsavepoint\n"4_group-aggregate"."groupAggregateState"'),
        (f"SELECT nope FROM {AGGREGATE}", '"nope" not found'),
        (f"SELECT CAST(k0 AS INT) FROM {AGGREGATE}", "Could not convert"),
    ],
)
def test_only_one_select_is_run(sql: str, says: str) -> None:
    with pytest.raises(StateError) as refused, SavepointReader.read(AGGREGATES).query(sql) as (_, rows):
        list(rows)
    assert says in str(refused.value)


def test_a_key_is_found_in_all_states() -> None:
    found = {each.state.title: each for each in SavepointReader.read(AGGREGATES).find(["a"])}
    assert {len(each.rows) for each in found.values()} == {1, 2}
    assert {group for each in found.values() for group in each.groups} == {4}
    assert {each.rows[0][each.columns.index("k0")] for each in found.values()} == {"a"}
    reader = SavepointReader.read(JOINS)
    assert {each.state.name for each in reader.find(["a"])} == {"leftState", "rightState"}
    assert list(reader.find(["a", "b"])) == []


@pytest.mark.parametrize(("anywhere", "expected"), [(False, 0), (True, 1)])
def test_other_columns_are_searched_when_asked(anywhere: bool, expected: int) -> None:
    found = list(SavepointReader.read(AGGREGATES).find(["a", "3.75"], anywhere=anywhere))
    assert len(found) == expected


def test_null_is_a_key_too() -> None:
    found = list(SavepointReader.read(AGGREGATES).find(["NULL"]))
    assert found
    assert {each.rows[0][each.columns.index("k0")] for each in found} == {None}


def test_skew_of_another_parallelism() -> None:
    reader = SavepointReader.read(AGGREGATES)
    skew = reader.skew("4_group-aggregate", 2)
    assert (len(skew.rows), sum(skew.rows)) == (2, 3)
    assert skew.smallest + skew.largest == 3
    assert skew.median == skew.largest


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("8_group-aggregate", "has 4 states"),
        ("9_x", "there is no state 9_x"),
        ("4_group-aggregate:nope", "there is no state 4_group-aggregate:nope"),
    ],
)
def test_a_state_that_is_not_there(address: str, says: str) -> None:
    with pytest.raises(StateError, match=says):
        SavepointReader.read(AGGREGATES).state(address)


def _read(path: Path) -> Iterator[dict[str, object]]:
    match path.suffix:
        case ".parquet":
            yield from pq.read_table(path).to_pylist()
        case ".csv":
            yield from csv.DictReader(path.read_text().splitlines())
        case _:
            yield from map(json.loads, path.read_text().splitlines())


@pytest.mark.parametrize("suffix", [".parquet", ".csv", ".json", ".jsonl"])
def test_a_state_is_exported(tmp_path: Path, suffix: str) -> None:
    target = tmp_path / "deep" / f"rows{suffix}"
    reader = SavepointReader.read(AGGREGATES)
    assert export_state(reader, "4_group-aggregate", target) == 3
    rows = list(_read(target))
    assert list(rows[0]) == ["k0", *(name for name, _ in reader.states[0].schema[1:]), "rk_written"]
    assert {row["k0"] or None for row in rows} == {"a", "b", None}
    with pytest.raises(StateError, match="exists already"):
        export_state(reader, "4_group-aggregate", target)
    assert [each.name for each in target.parent.iterdir()] == [target.name]


def test_the_suffix_tells_the_format(tmp_path: Path) -> None:
    with pytest.raises(StateError, match="tells no format"):
        export_state(SavepointReader.read(AGGREGATES), "4_group-aggregate", tmp_path / "rows.xlsx")


@pytest.mark.parametrize("limit", [1, 3, 4, 6, 9])
def test_no_more_rows_are_given_than_asked_for(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """Of a state with several files, too."""
    batches = [pa.RecordBatch.from_pydict({"n": [first, first + 1, first + 2]}) for first in (0, 3)]
    monkeypatch.setattr(SavepointReader, "batches", lambda *_: iter(batches))
    found = SavepointReader.read(AGGREGATES).rows("4_group-aggregate", limit)
    assert found == [{"n": n} for n in range(min(limit, 6))]
