"""Writing micro-batches into DuckDB: one transaction each, with the batch's id in it."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from execnodes.core.errors import ConnectorError
from execnodes.lowering.stream import KIND
from rekindle.connectors.base import RowsWriter, SinkRequest
from rekindle.connectors.duckdb_sql import column_type, connect, identifier, quoted, stored

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

COMMITS = "_rekindle_commits"
"""Table with the batches that are written: job, batch_id."""


class DuckdbWriter(RowsWriter):
    """The net effect of a batch, in the order of its rows.

    With a primary key a key's last row decides; without one equal rows cancel out, and what is left to delete deletes
    one equal row each.
    """

    def __init__(self, request: SinkRequest, path: str, table: str, patience: float) -> None:
        """`patience`: seconds to wait for a database that others have open."""
        self._patience = patience
        self._request = request
        self._path = path
        self._table = identifier(table)
        self._columns = [quoted(column.name) for column in request.columns]
        self._keys = [self._columns[i] for i in request.primary_key]

    def open(self) -> None:
        """Create the tables; refuse an existing table that lacks a column."""
        columns = [f"{quoted(c.name)} {column_type(c.data_type)}" for c in self._request.columns]
        with self._connected() as database:
            database.execute(f"CREATE TABLE IF NOT EXISTS {self._table} ({', '.join(columns)})")
            database.execute(f"CREATE TABLE IF NOT EXISTS {COMMITS} (job VARCHAR, sink VARCHAR, batch_id BIGINT)")
            present = {row[0].lower() for row in database.execute(f"DESCRIBE {self._table}").fetchall()}
        lacking = [c.name for c in self._request.columns if c.name.lower() not in present]
        if lacking:
            raise ConnectorError(
                f"the table {self._table} in {self._path} has no column {', '.join(lacking)}",
                where=f"table {self._request.name}",
                hint="Add the column in DuckDB, or write into another table.",
            )

    def write_rows(self, rows: pa.Table, batch_id: int) -> None:
        """All of the batch or nothing; a batch that is written already is left out."""
        with self._connected() as database:
            mark = [self._request.job_id, self._table, batch_id]
            known = database.execute(
                f"SELECT 1 FROM {COMMITS} WHERE job = ? AND sink = ? AND batch_id = ?", mark
            ).fetchone()
            if known:
                return
            database.register("rk_arrow", rows)
            database.execute("BEGIN")
            try:
                self._apply(database)
                database.execute(f"INSERT INTO {COMMITS} VALUES (?, ?, ?)", mark)
                database.execute("COMMIT")
            except BaseException:
                database.execute("ROLLBACK")
                raise

    def _connected(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        return connect(self._path, self._request.name, read_only=False, patience=self._patience)

    def _apply(self, database: duckdb.DuckDBPyConnection) -> None:
        if self._request.overwrite:
            database.execute(f"DELETE FROM {self._table}")
        cells = ", ".join(
            f"{stored(c.data_type, name)} AS {name}"
            for c, name in zip(self._request.columns, self._columns, strict=True)
        )
        # The position is the order: the Arrow table is sorted.
        numbered = f"SELECT {cells}, {KIND}, row_number() OVER () AS rk_at FROM rk_arrow"
        database.execute(f"CREATE OR REPLACE TEMP TABLE rk_batch AS {numbered}")
        names = ", ".join(self._columns)
        if self._keys:
            keys = ", ".join(self._keys)
            same = " AND ".join(f"t.{key} IS NOT DISTINCT FROM b.{key}" for key in self._keys)
            touched = f"(SELECT DISTINCT {keys} FROM rk_batch) AS b"
            database.execute(f"DELETE FROM {self._table} AS t USING {touched} WHERE {same}")
            last = f"row_number() OVER (PARTITION BY {keys} ORDER BY rk_at DESC) = 1"
            database.execute(
                f"INSERT INTO {self._table} ({names}) SELECT {names} FROM "
                f"(SELECT * FROM rk_batch QUALIFY {last}) WHERE {KIND} IN (0, 2) ORDER BY rk_at"
            )
        elif self._request.changelog.insert_only:
            database.execute(f"INSERT INTO {self._table} ({names}) SELECT {names} FROM rk_batch ORDER BY rk_at")
        else:
            self._retract(database, names)

    def _retract(self, database: duckdb.DuckDBPyConnection, names: str) -> None:
        database.execute(
            f"CREATE OR REPLACE TEMP TABLE rk_net AS SELECT {names}, min(rk_at) AS rk_at, "
            f"sum(CASE WHEN {KIND} IN (0, 2) THEN 1 ELSE -1 END) AS rk_count FROM rk_batch GROUP BY {names}"
        )
        same = " AND ".join(f"t.{name} IS NOT DISTINCT FROM b.{name}" for name in self._columns)
        parts = ", ".join(f"t.{name}" for name in self._columns)
        surplus = (
            f"SELECT t.rowid FROM {self._table} AS t JOIN rk_net AS b ON {same} WHERE b.rk_count < 0 "
            f"QUALIFY row_number() OVER (PARTITION BY {parts} ORDER BY t.rowid) <= -b.rk_count"
        )
        database.execute(f"DELETE FROM {self._table} WHERE rowid IN ({surplus})")
        copies = "range(CAST(greatest(rk_count, 0) AS BIGINT))"
        database.execute(f"INSERT INTO {self._table} ({names}) SELECT {names} FROM rk_net, {copies} ORDER BY rk_at")
