"""Tables that are asked for rows by key: what they answer, and that they are asked as they are when rows come."""

from __future__ import annotations

import datetime as dt
import json
import shutil
import time
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from execnodes.core.errors import ConnectorError, JobError, RekindleError
from execnodes.core.options import Configuration
from execnodes.core.tables import Column
from execnodes.core.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    STRING,
    LogicalType,
    Root,
    array,
    decimal,
    row,
    timestamp,
    timestamp_ltz,
)
from execnodes.core.types import Field as TypeField
from execnodes.lowering.spark_sql import spark_type
from rekindle.api.table_environment import TableEnvironment
from rekindle.connectors.base import FOUND_FOR, LookupReader
from rekindle.connectors.copied_table import CopiedTable, _write
from rekindle.connectors.duckdb_lookup import DuckdbLookup
from rekindle.pipeline.lookups import LookupCall
from rekindle.runtime.stream_job import StreamJob
from rekindle.spark.session import prepare
from rekindle.spark.types import arrow_type
from rekindle.udf import udtf
from tests.runtime.written import written_rows

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TIME = LogicalType(Root.TIME, precision=3)
_NOON = dt.datetime(2024, 2, 29, 12, 30)
VALUES: Mapping[str, tuple[LogicalType, tuple[Any, ...]]] = {
    "BIGINT": (BIGINT, (1, -2, 2**62)),
    "STRING": (STRING, ("a", "", "é😀")),
    "BOOLEAN": (BOOLEAN, (True, False)),
    "DOUBLE": (DOUBLE, (0.5, -1.0, 1e300)),
    "DECIMAL": (decimal(30, 4), (Decimal("1.5000"), Decimal("-99999999999999999999.0001"))),
    "DATE": (DATE, (dt.date(2024, 2, 29), dt.date(1969, 12, 31))),
    "TIME": (TIME, (0, 45_000_001)),
    "TIMESTAMP": (timestamp(6), (_NOON, _NOON.replace(microsecond=123456))),
    "TIMESTAMP_LTZ": (timestamp_ltz(3), (_NOON.replace(tzinfo=dt.UTC), _NOON.replace(hour=1, tzinfo=dt.UTC))),
    "BYTES": (BYTES, (b"\x00", b"ab")),
}


def arrow_of(type: LogicalType) -> pa.DataType:
    from pyspark.sql.types import DataType

    return arrow_type(DataType.fromDDL(spark_type(type)))


def copied(folder: Path, table: pa.Table, keys: tuple[int, ...], version: int = 1) -> CopiedTable:
    _write(table, folder / f"{version}.arrow")
    (folder / "current").write_text(f"{version}.arrow\nwhat it was")
    return CopiedTable(str(folder), keys)


@pytest.mark.spark
@pytest.mark.parametrize("name", VALUES)
def test_rows_are_found_by_keys_of_any_type(name: str, spark: SparkSession, tmp_path: Path) -> None:
    type, values = VALUES[name]
    stored = [*values, values[0], None]
    types = pa.schema([("c0", arrow_of(type)), ("c1", pa.int64())])
    table = pa.table([pa.array(stored, types.field(0).type), pa.array(range(len(stored)), pa.int64())], schema=types)
    readers: list[LookupReader] = [copied(tmp_path / "copy", table, (0,))]
    path = tmp_path / "d.db"
    with duckdb.connect(str(path)) as database:
        given = "CAST(epoch_ms(c0) AS TIME)" if name == "TIME" else "c0"
        database.execute("SET TimeZone = 'UTC'")
        database.register("stored", table)
        database.execute(f"CREATE TABLE d AS SELECT {given} AS k, c1 AS v FROM stored")
    columns = (Column(name="k", data_type=type), Column(name="v", data_type=BIGINT))
    readers.append(DuckdbLookup(str(path), "d", "d", columns, (0,), types, 5.0))
    wanted = [values[1], values[0], values[1]]
    expected = [(0, values[1], 1), (1, values[0], 0), (1, values[0], len(values)), (2, values[1], 1)]
    for reader in readers:
        found = reader.find(pa.table({"k0": pa.array(wanted, types.field(0).type)}))
        assert found.schema.names == [FOUND_FOR, "c0", "c1"]
        assert [each.type for each in found.schema] == [pa.int64(), *types.types]
        rows = list(zip(*(each.to_pylist() for each in found.columns), strict=True))
        assert [each[0] for each in rows] == [each[0] for each in expected], reader
        assert sorted(rows, key=lambda each: (each[0], each[2])) == expected, reader


class _Listed(LookupReader):
    """Answers from a dictionary."""

    def __init__(self, rows: list[tuple[int | None, int | None, str]]) -> None:
        self.rows = rows

    def find(self, keys: pa.Table) -> pa.Table:
        assert not any(each.null_count for each in keys.columns)
        wanted = list(zip(*(each.to_pylist() for each in keys.columns), strict=True))
        found = [(at, *each) for at, key in enumerate(wanted) for each in self.rows if each[:2] == key]
        columns = list(zip(*found, strict=True)) or [(), (), (), ()]
        types = (pa.int64(), pa.int64(), pa.int64(), pa.string())
        return pa.table(
            [pa.array(each, type) for each, type in zip(columns, types, strict=True)], [FOUND_FOR, "c0", "c1", "c2"]
        )


_KEY = st.one_of(st.none(), st.integers(0, 2))
_ANSWER = array(row(TypeField("c0", BIGINT), TypeField("c1", BIGINT), TypeField("c2", STRING)).not_null())
_ARROW = pa.list_(
    pa.field("element", pa.struct([("c0", pa.int64()), ("c1", pa.int64()), ("c2", pa.string())]), nullable=False)
)


@settings(max_examples=100, deadline=None)
@given(
    rows=st.lists(st.tuples(_KEY, _KEY, st.sampled_from(["x", "y"]))),
    asked=st.lists(st.tuples(st.sampled_from([True, False, None]), _KEY, _KEY), max_size=8),
)
def test_each_row_gets_what_was_found_for_it(
    rows: list[tuple[int | None, int | None, str]], asked: list[tuple[bool | None, int | None, int | None]]
) -> None:
    call = LookupCall(_Listed(rows), _ANSWER, _ARROW)
    columns = list(zip(*asked, strict=True)) or [(), (), ()]
    active = pa.array(columns[0], pa.bool_())
    found = call(active, *(pa.array(each, pa.int64()) for each in columns[1:]))
    assert found.type == _ARROW
    expected = [
        [dict(zip(("c0", "c1", "c2"), each, strict=True)) for each in rows if each[:2] == tuple(key)]
        if is_active and None not in key
        else []
        for is_active, *key in asked
    ]
    assert found.to_pylist() == expected


def test_a_new_copy_is_read_at_once(tmp_path: Path) -> None:
    types = pa.schema([("c0", pa.int64()), ("c1", pa.string())])
    for version, name in enumerate(("old", "new"), 1):
        reader = copied(tmp_path, pa.table([[1], [name]], schema=types), (0,), version)
        assert reader.find(pa.table({"k0": pa.array([1, 2])}))["c1"].to_pylist() == [name]


def test_a_copy_of_the_same_name_in_a_folder_that_begins_anew_is_another_one(tmp_path: Path) -> None:
    types = pa.schema([("c0", pa.int64()), ("c1", pa.string())])
    for name in ("before", "after"):
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        reader = copied(tmp_path / "copy", pa.table([[1], [name]], schema=types), (0,))
        assert reader.find(pa.table({"k0": pa.array([1])}))["c1"].to_pylist() == [name]


TABLES = """
CREATE TABLE a (k BIGINT, pt AS PROCTIME())
  WITH ('connector' = 'filesystem', 'path' = '{dir}/in', 'format' = 'json', 'source.monitor-interval' = '100 ms');
CREATE TABLE files (id BIGINT, name STRING)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/files', 'format' = 'json', 'lookup.cache' = 'FULL');
CREATE TABLE stored (id BIGINT, name STRING)
  WITH ('connector' = 'duckdb', 'path' = '{dir}/d.db', 'table' = 'd');
CREATE TABLE o (k BIGINT, f STRING, d STRING)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/out', 'format' = 'json');
"""
INSERT = (
    "INSERT INTO o SELECT a.k, f.name, d.name FROM a LEFT JOIN files FOR SYSTEM_TIME AS OF a.pt AS f ON a.k = f.id "
    "LEFT JOIN stored FOR SYSTEM_TIME AS OF a.pt AS d ON a.k = d.id;"
)


def fill(folder: Path, name: str) -> None:
    """What is stored for the key 1 is called so from now on."""
    (folder / "files").mkdir(exist_ok=True)
    (folder / "files" / f"{name}.json").write_text(json.dumps({"id": 1, "name": name}) + "\n")
    for each in (folder / "files").iterdir():
        if each.stem != name:
            each.unlink()
    with duckdb.connect(str(folder / "d.db")) as database:
        database.execute(f"CREATE OR REPLACE TABLE d AS SELECT 1 AS id, '{name}' AS name")


def job_of(folder: Path, spark: SparkSession) -> StreamJob:
    made = TableEnvironment.create({}, spark=prepare(spark, 2, {}))
    plan = made.compile_script((TABLES + INSERT).replace("{dir}", str(folder)))
    configuration = Configuration({"execution.job-dir": str(folder / "job")})
    return StreamJob(plan.graph, plan.as_json_string(), configuration, spark=spark)


def wait_for(job: StreamJob, folder: Path, rows: int) -> list[dict[str, Any]]:
    end = time.monotonic() + 120
    while len(written := written_rows(folder / "out")) < rows and time.monotonic() < end:
        assert not job.wait(0.1), "the job has ended"
    return sorted(written, key=str)


@pytest.mark.spark
def test_rows_find_what_the_tables_hold_when_they_come(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"k": 1}\n{"k": 2}\n{"k": null}\n')
    fill(tmp_path, "first")
    job = job_of(tmp_path, spark).start()
    try:
        first = [
            {"k": 1, "f": "first", "d": "first"},
            {"k": 2, "f": None, "d": None},
            {"k": None, "f": None, "d": None},
        ]
        assert wait_for(job, tmp_path, 3) == sorted(first, key=str)
        fill(tmp_path, "second")
        (tmp_path / "in" / "2.json").write_text('{"k": 1}\n')
        second = [*first, {"k": 1, "f": "second", "d": "second"}]
        assert wait_for(job, tmp_path, 4) == sorted(second, key=str)
    finally:
        job.stop()
    # One copy, and the one before it.
    copies = {each.name for each in (tmp_path / "job" / "lookups").rglob("*.arrow")}
    assert copies == {"1.arrow", "2.arrow"}


@pytest.mark.spark
@pytest.mark.parametrize(
    ("missing", "message"), [("files", "there is no file or folder"), ("d.db", "there is no database")]
)
def test_a_table_that_is_not_there_is_named(spark: SparkSession, tmp_path: Path, missing: str, message: str) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"k": 1}\n')
    fill(tmp_path, "first")
    (tmp_path / missing).rename(tmp_path / "gone")
    with pytest.raises(RekindleError) as caught:
        job_of(tmp_path, spark).start().wait(120)
    assert message in str(caught.value)
    assert isinstance(caught.value, ConnectorError)


@pytest.mark.spark
def test_a_table_that_the_database_has_not_got_is_named(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"k": 1}\n')
    fill(tmp_path, "first")
    with duckdb.connect(str(tmp_path / "d.db")) as database:
        database.execute("DROP TABLE d")
    with pytest.raises(JobError, match="Table with name d does not exist") as caught:
        job_of(tmp_path, spark).start().wait(120)
    assert "table default_catalog.default_database.stored" in str(caught.value)


@pytest.mark.spark
def test_a_line_that_cannot_be_copied_is_named(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "1.json").write_text('{"k": 1}\n')
    fill(tmp_path, "first")
    (tmp_path / "files" / "bad.json").write_text('{"id": "no number"}\n')
    with pytest.raises(RekindleError, match=r"bad\.json"):
        job_of(tmp_path, spark).start().wait(120)


NESTED = """
CREATE TABLE g (kind INT, bid ROW<auction BIGINT, bidder BIGINT, price BIGINT>)
  WITH ('connector' = 'nexmark', 'events.num' = '100');
CREATE TABLE files (id BIGINT, name STRING)
  WITH ('connector' = 'filesystem', 'path' = '{dir}/files', 'format' = 'json', 'lookup.cache' = 'FULL');
CREATE FUNCTION halves AS 'tests.connectors.test_lookups:halves' LANGUAGE PYTHON;
CREATE VIEW b AS SELECT bid.auction AS auction, bid.bidder AS bidder, PROCTIME() AS pt FROM g WHERE kind = 2;
"""


@udtf(result_types=["BIGINT"])
def halves(number: int) -> Iterator[int]:
    """A row of the number's half."""
    yield number // 2


@pytest.mark.spark
@pytest.mark.parametrize("mode", ["streaming", "batch"])
@pytest.mark.parametrize(
    "query",
    [
        "SELECT b.auction, b.bidder, f.name FROM b JOIN files FOR SYSTEM_TIME AS OF b.pt AS f "
        "ON MOD(b.auction, 2) = f.id",
        "SELECT b.auction, b.bidder, h.n FROM b, LATERAL TABLE(halves(b.auction)) AS h (n) WHERE MOD(b.auction, 2) = 1",
    ],
)
def test_fields_of_rows_are_read_behind_what_python_computes(
    query: str, mode: str, spark: SparkSession, tmp_path: Path
) -> None:
    """Spark lost such fields, of which a generator that calls Python reads others."""
    fill(tmp_path, "odd")
    made = TableEnvironment.create({"execution.runtime-mode": mode}, spark=prepare(spark, 2, {}))
    made.execute_script(NESTED.replace("{dir}", str(tmp_path)))
    rows = [list(row) for _, row in made.execute_sql(query).collect_changes()]
    bids = [list(row) for _, row in made.execute_sql("SELECT auction, bidder FROM b").collect_changes()]
    assert sorted(each[:2] for each in rows) == sorted(each for each in bids if each[0] % 2)
    assert all(each[2] in ("odd", each[0] // 2) for each in rows)
