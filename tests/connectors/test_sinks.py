"""Sinks: each batch once, whole files only, net effects, and readable messages."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from execnodes.core.changelog import INSERT_ONLY
from execnodes.core.errors import ConnectorError
from rekindle.connectors import collect
from rekindle.connectors.file_sink import FileWriter
from tests.connectors.helpers import frame_of, read, sink, table

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

COLUMNS = {"id": "INT", "s": "STRING"}


def _files(path: Path, **more: Any) -> Any:
    return table(COLUMNS, {"connector": "filesystem", "format": "json", "path": str(path)}, **more)


def test_a_batch_told_twice_is_written_once(spark: SparkSession, tmp_path: Path) -> None:
    given = _files(tmp_path / "out")
    batch = frame_of(spark, "(1, 'a', 0Y), (2, 'b', 0Y)", "id, s, rk_kind")
    for _ in range(2):
        writer = sink(spark, given, tmp_path / "job", changelog=INSERT_ONLY)
        writer.write(batch, 0)
        writer.write(batch, 0)
        writer.close()
    assert sorted(read(spark, given, tmp_path / "job")) == [(1, "a"), (2, "b")]
    sink(spark, given, tmp_path / "job", job_id="other").write(batch, 0)
    assert len(read(spark, given, tmp_path / "job2")) == 4
    assert sorted(
        tuple(r) for r in spark.read.schema("id INT, s STRING").json(str(tmp_path / "out")).distinct().collect()
    ) == [
        (1, "a"),
        (2, "b"),
    ]


@pytest.mark.parametrize("renamed", [0, 1])
def test_a_crash_before_the_marker_leaves_nothing_double(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renamed: int
) -> None:
    given = _files(tmp_path / "out")
    batch = frame_of(spark, "(1, 'a', 0Y), (2, 'b', 0Y)", "id, s, rk_kind").repartition(2, "id")
    writer = sink(spark, given, tmp_path / "job")
    moved = 0
    whole = Path.replace

    def crash(self: Path, target: Path) -> Path:
        nonlocal moved
        if moved == renamed:
            raise OSError("the machine went down")
        moved += 1
        return whole(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", crash)
        with pytest.raises(OSError, match="went down"):
            writer.write(batch, 0)
    visible = [path for path in (tmp_path / "out").glob("*") if not path.name.startswith("_")]
    assert len(visible) == renamed
    again = sink(spark, given, tmp_path / "job")
    assert isinstance(again, FileWriter)
    again.write(batch, 0)
    assert sorted(read(spark, given, tmp_path / "job")) == [(1, "a"), (2, "b")]


def test_an_empty_batch_makes_no_file(spark: SparkSession, tmp_path: Path) -> None:
    for kind in ("json", "parquet"):
        given = table(COLUMNS, {"connector": "filesystem", "format": kind, "path": str(tmp_path / kind)})
        sink(spark, given, tmp_path / "job").write(frame_of(spark, "(1, 'a', 0Y)", "id, s, rk_kind").where("id > 1"), 0)
        assert [each.name for each in (tmp_path / kind).iterdir()] == ["_rekindle"]


def test_partitions_are_folders_and_come_back(spark: SparkSession, tmp_path: Path) -> None:
    given = _files(tmp_path / "out", partitions=("s",))
    rows = "(1, '23:54', 0Y), (2, NULL, 0Y), (3, 'a/b', 0Y)"
    sink(spark, given, tmp_path / "job").write(frame_of(spark, rows, "id, s, rk_kind"), 0)
    assert sorted(read(spark, given, tmp_path / "job")) == [(1, "23:54"), (2, None), (3, "a/b")]
    only = given.table_schema.columns[1:]
    assert {row[0] for row in read(spark, given, tmp_path / "job", columns=only)} == {"23:54", None, "a/b"}
    options = {**given.options, "sink.partition-commit.policy.kind": "success-file"}
    committed = given.model_copy(update={"options": options})
    sink(spark, committed, tmp_path / "job", job_id="next").write(frame_of(spark, "(4, 'x', 0Y)", "id, s, rk_kind"), 0)
    assert [each.parent.name for each in (tmp_path / "out").rglob("_SUCCESS")] == ["s=x"]
    assert (4, "x") in read(spark, committed, tmp_path / "job2")


def test_a_file_is_no_folder(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("x", encoding="utf-8")
    with pytest.raises(ConnectorError, match="is a file; a sink writes into a folder"):
        sink(spark, _files(tmp_path / "out"), tmp_path / "job")


def test_print(spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    columns = {
        "i": "INT", "d": "DOUBLE", "f": "FLOAT", "n": "DECIMAL(12, 8)", "b": "BOOLEAN", "t": "TIME(0)",
        "ts": "TIMESTAMP(3)", "l": "TIMESTAMP_LTZ(3)", "x": "BYTES", "xs": "ARRAY<INT>", "m": "MAP<STRING, INT>",
        "r": "ROW<`a` INT, `b` STRING>",
    }  # fmt: skip
    rows = """(1, 1E10D, 0.1F, 0.0000001BD, true, 3723000, TIMESTAMP_NTZ'2024-01-01 00:00:00.5',
      TIMESTAMP'2024-01-01 00:00:00Z', X'01FF', array(1, NULL), map('k', 1), named_struct('a', 1, 'b', 'z'), 1Y, 2L),
      (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0Y, 1L)"""
    batch = frame_of(spark, rows, ", ".join([*columns, "rk_kind", "rk_seq"]))
    sink(spark, table(columns, {"connector": "print", "print-identifier": "out"}), tmp_path).write(batch, 0)
    assert capsys.readouterr().out.splitlines() == [
        f"out> +I[{', '.join(['null'] * 12)}]",
        "out> -U[1, 1.0E10, 0.1, 0.00000010, true, 01:02:03, 2024-01-01T00:00:00.500, 2024-01-01T00:00:00.000Z, "
        "[1, -1], [1, null], {k=1}, +I[1, z]]",
    ]


def test_collect_and_blackhole(spark: SparkSession, tmp_path: Path) -> None:
    batch = frame_of(spark, "(2, 'b', 3Y, 2L), (1, NULL, 0Y, 1L)", "id, s, rk_kind, rk_seq")
    writer = sink(spark, table(COLUMNS, {"connector": "collect", "name": "here"}), tmp_path)
    assert collect.results("here") == []
    writer.write(batch, 0)
    writer.write(batch, 0)
    assert collect.results("here") == [(0, (1, None)), (3, (2, "b"))]
    writer.write(batch, 1)
    assert len(collect.results("here")) == 4
    collect.clear("here")
    sink(spark, table(COLUMNS, {"connector": "blackhole"}), tmp_path).write(batch, 0)


def _duck(tmp_path: Path, key: tuple[str, ...] = (), columns: dict[str, str] = COLUMNS) -> Any:
    return table(columns, {"connector": "duckdb", "path": str(tmp_path / "db.duckdb"), "table": "out"}, key=key)


def _rows(tmp_path: Path, query: str = "SELECT * FROM out ORDER BY ALL") -> list[Any]:
    import duckdb

    with duckdb.connect(str(tmp_path / "db.duckdb")) as database:
        return database.execute(query).fetchall()


def test_duckdb_upserts_the_last_row_of_a_key(spark: SparkSession, tmp_path: Path) -> None:
    writer = sink(spark, _duck(tmp_path, ("id",)), tmp_path)
    writer.write(frame_of(spark, "(1, 'a', 0Y, 1L), (2, 'b', 0Y, 2L), (3, 'c', 0Y, 3L)", "id, s, rk_kind, rk_seq"), 0)
    changes = """(1, 'x', 2Y, 5L), (1, 'a', 1Y, 4L), (2, 'b', 3Y, 6L), (4, 'd', 0Y, 7L), (4, 'd', 3Y, 8L),
        (3, 'c', 3Y, 9L), (3, 'z', 0Y, 10L)"""
    for _ in range(2):
        writer.write(frame_of(spark, changes, "id, s, rk_kind, rk_seq").repartition(2), 1)
    assert _rows(tmp_path) == [(1, "x"), (3, "z")]
    assert sorted(read(spark, _duck(tmp_path), tmp_path / "job")) == [(1, "x"), (3, "z")]


def test_duckdb_retracts_one_equal_row(spark: SparkSession, tmp_path: Path) -> None:
    writer = sink(spark, _duck(tmp_path), tmp_path)
    writer.write(frame_of(spark, "(1, 'a', 0Y), (1, 'a', 0Y), (1, 'a', 0Y), (2, NULL, 0Y)", "id, s, rk_kind"), 0)
    writer.write(
        frame_of(spark, "(1, 'a', 1Y), (1, 'b', 2Y), (2, NULL, 3Y), (5, 'e', 0Y), (5, 'e', 3Y)", "id, s, rk_kind"), 1
    )
    assert _rows(tmp_path) == [(1, "a"), (1, "a"), (1, "b")]


def test_duckdb_appends_once(spark: SparkSession, tmp_path: Path) -> None:
    batch = frame_of(spark, "(1, 'a', 0Y), (1, 'a', 0Y)", "id, s, rk_kind")
    for batch_id in (0, 0, 1):
        sink(spark, _duck(tmp_path), tmp_path, changelog=INSERT_ONLY).write(batch, batch_id)
    assert len(_rows(tmp_path)) == 4
    assert _rows(tmp_path, "SELECT job, batch_id FROM _rekindle_commits ORDER BY ALL") == [("job", 0), ("job", 1)]


def test_duckdb_failure_rolls_back(spark: SparkSession, tmp_path: Path) -> None:
    _rows(tmp_path, "CREATE TABLE out (id INT CHECK (id < 3), s VARCHAR)")
    writer = sink(spark, _duck(tmp_path), tmp_path, changelog=INSERT_ONLY)
    with pytest.raises(ConnectorError, match=r"table t: DuckDB .*CHECK"):
        writer.write(frame_of(spark, "(1, 'a', 0Y), (3, 'c', 0Y)", "id, s, rk_kind"), 0)
    assert _rows(tmp_path) == []
    writer.write(frame_of(spark, "(1, 'a', 0Y)", "id, s, rk_kind"), 0)
    assert _rows(tmp_path) == [(1, "a")]


def test_duckdb_needs_the_columns(spark: SparkSession, tmp_path: Path) -> None:
    _rows(tmp_path, "CREATE TABLE out (id INT)")
    with pytest.raises(ConnectorError, match="has no column s"):
        sink(spark, _duck(tmp_path), tmp_path)
    with pytest.raises(ConnectorError, match="there is no database"):
        read(spark, table(COLUMNS, {"connector": "duckdb", "path": str(tmp_path / "no"), "table": "t"}), tmp_path / "j")


def test_duckdb_types_there_and_back(spark: SparkSession, tmp_path: Path) -> None:
    columns = {
        "n": "DECIMAL(30, 4)", "x": "BYTES", "d": "DATE", "t": "TIME(3)", "ts": "TIMESTAMP(6)", "l": "TIMESTAMP_LTZ(3)",
        "xs": "ARRAY<INT>", "m": "MAP<STRING, INT>", "r": "ROW<`a` INT, `b` STRING>",
    }  # fmt: skip
    rows = """(1.5BD, X'01', DATE'2024-02-29', 3723004, TIMESTAMP_NTZ'2024-01-01 00:00:00.123456',
        TIMESTAMP'2024-01-01 00:00:00Z', array(1, NULL), map('k', 1), named_struct('a', 1, 'b', 'z'), 0Y)"""
    given = _duck(tmp_path, columns=columns)
    sink(spark, given, tmp_path).write(frame_of(spark, rows, ", ".join([*columns, "rk_kind"])), 0)
    kinds = [row[1] for row in _rows(tmp_path, "DESCRIBE out")]
    assert kinds[:6] == ["DECIMAL(30,4)", "BLOB", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE"]
    assert _rows(tmp_path, "SELECT t FROM out")[0][0] == dt.time(1, 2, 3, 4000)
    back = read(spark, given, tmp_path / "job")[0]
    assert (back[0], back[3], back[6:]) == (Decimal("1.5000"), 3723004, ([1, None], {"k": 1}, (1, "z")))
    assert read(spark, given, tmp_path / "job2", start='{"done": true}') == []


def test_spark_source_and_sink(spark: SparkSession, tmp_path: Path) -> None:
    options = {"connector": "spark", "spark.format": "parquet", "spark.options.path": str(tmp_path / "p")}
    given = table(COLUMNS, {**options, "spark.schema": "true", "spark.bounded": "true"})
    sink(spark, given, tmp_path).write(frame_of(spark, "(1, 'a', 0Y)", "id, s, rk_kind"), 0)
    assert read(spark, given, tmp_path / "job") == [(1, "a")]
    assert read(spark, given, tmp_path / "job", batch=True) == [(1, "a")]
    with pytest.raises(ConnectorError, match=r"table t: Spark's data source 'nope'"):
        read(spark, table(COLUMNS, {"connector": "spark", "spark.format": "nope"}), tmp_path / "job")
