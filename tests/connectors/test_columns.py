"""Columns that a connector does not have are refused when a statement is compiled, at the table that names it."""

from __future__ import annotations

import pytest

from execnodes.connectors import connectors
from execnodes.core.errors import RekindleError, SqlError
from rekindle.api.table_environment import TableEnvironment

FILES = "'connector' = 'filesystem', 'path' = '/nowhere', 'format' = '{}'"
JSON = FILES.format("json")
SOURCES = {
    "files, unknown key": ("m BIGINT METADATA FROM 'timestamp'", JSON, "key 'timestamp' of column 'm' does not exist"),
    "files, name as key": ("m BIGINT METADATA VIRTUAL", JSON, "metadata key 'm'"),
    "files, type": ("m INT METADATA FROM 'file.modification-time'", JSON, "key 'file.modification-time' is of"),
    "change records": ("m TIMESTAMP_LTZ(3) METADATA FROM 'ingestion-timestamp'", FILES.format("debezium-json"), "key"),
    "datagen": ("m BIGINT METADATA FROM 'timestamp'", "'connector' = 'datagen'", "'datagen' has no metadata"),
    "nexmark": ("m BIGINT METADATA", "'connector' = 'nexmark'", "'nexmark' has no metadata"),
    "duckdb": ("m BIGINT METADATA", "'connector' = 'duckdb', 'path' = 'x', 'table' = 't'", "'duckdb' has no metadata"),
}  # fmt: skip
SINKS = ("'connector' = 'print'", "'connector' = 'blackhole'", "'connector' = 'collect'", JSON)


def compiled(script: str) -> None:
    TableEnvironment.create().compile_script(script)


@pytest.mark.parametrize("case", SOURCES)
def test_unknown_metadata_is_refused_where_a_table_is_read(case: str) -> None:
    """Flink: SELECT of any column says so, CREATE TABLE does not."""
    column, options, message = SOURCES[case]
    table = f"CREATE TABLE t (k STRING, {column}) WITH ({options});\n"
    TableEnvironment.create().execute_script(table)
    with pytest.raises(SqlError, match=message) as raised:
        compiled(f"{table}SELECT k\n  FROM t")
    assert raised.value.position is not None
    assert (raised.value.position.line, raised.value.position.column) == (3, 8)
    assert raised.value.hint


@pytest.mark.parametrize("options", SINKS)
def test_metadata_is_refused_where_a_sink_would_write_it(options: str) -> None:
    """As in Flink; VIRTUAL columns are not written."""
    table = "CREATE TABLE s (k STRING, m BIGINT METADATA{}) WITH ({});\n"
    with pytest.raises(SqlError, match="metadata column 'm' cannot be written") as raised:
        compiled(table.format("", options) + "INSERT INTO s SELECT 'a', CAST(1 AS BIGINT)")
    assert raised.value.position is not None
    assert raised.value.hint == "Declare the column VIRTUAL."
    compiled(table.format(" VIRTUAL", options) + "INSERT INTO s SELECT 'a'")


@pytest.mark.parametrize(
    "column",
    [
        "m STRING METADATA FROM 'file.path'", "`file.name` STRING METADATA VIRTUAL", "m INT METADATA FROM 'file.size'",
        "m TIMESTAMP(3) METADATA FROM 'file.modification-time'", "m STRING METADATA FROM 'file.size' VIRTUAL",
    ],
)  # fmt: skip
def test_metadata_of_files_is_read_as_what_it_can_be_cast_to(column: str) -> None:
    compiled(f"CREATE TABLE t (k STRING, {column}) WITH ({JSON}); SELECT * FROM t")


@pytest.mark.parametrize(
    ("columns", "options", "query", "message"),
    [
        ("event INT", "'connector' = 'nexmark'", "SELECT event FROM t", "event INT is not one of this"),
        ("bid ROW<x INT>", "'connector' = 'nexmark'", "SELECT bid FROM t", "unknown field 'x'"),
        ("m MAP<INT, INT>", JSON, "SELECT m FROM t", "JSON keys are texts"),
        ("m MAP<STRING, INT>", FILES.format("csv"), "SELECT m FROM t", "csv has no form"),
        ("a INT", "'connector' = 'datagen', 'fields.a.kind' = 'sequence'", "SELECT a FROM t", "a sequence needs"),
        ("m MAP<INT, INT>", JSON, "INSERT INTO t SELECT MAP[1, 2]", "JSON keys are texts"),
    ],
)
def test_columns_without_a_form_are_refused_when_compiled(columns: str, options: str, query: str, message: str) -> None:
    with pytest.raises(RekindleError, match=message):
        compiled(f"CREATE TABLE t ({columns}) WITH ({options});\n{query}")


def test_columns_that_are_not_read_are_not_asked_for() -> None:
    """A table is declared for several uses."""
    compiled(f"CREATE TABLE t (k STRING, m MAP<INT, INT>) WITH ({JSON}); SELECT k FROM t")


def test_every_connector_says_which_metadata_it_has() -> None:
    """Only what Spark's data sources have is not known before they open."""
    silent = {
        each.identifier
        for each in connectors()
        for ability in (each.source, each.sink)
        if ability is not None and ability.metadata is None
    }
    assert silent == {"spark"}
