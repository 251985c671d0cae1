"""Rows of a DuckDB table by their keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from execnodes.core.tables import Column
from rekindle.connectors.base import FOUND_FOR, LookupReader
from rekindle.connectors.duckdb_sql import cell, connect, identifier

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class DuckdbLookup(LookupReader):
    """One query for all keys that are asked for together."""

    path: str
    table: str
    """In the database."""
    name: str
    """Of the table in SQL, for messages."""
    columns: tuple[Column, ...]
    keys: tuple[int, ...]
    types: pa.Schema
    patience: float
    """Seconds to wait for a database that another process is writing."""

    def find(self, keys: pa.Table) -> pa.Table:
        """See LookupReader."""
        import pyarrow as pa

        numbered = keys.append_column(FOUND_FOR, pa.array(range(len(keys)), pa.int64()))
        same = (f"{cell(self.columns[column], 't')} = k.k{at}" for at, column in enumerate(self.keys))
        given = (f"{cell(column, 't')} AS c{at}" for at, column in enumerate(self.columns))
        query = (
            f"SELECT k.{FOUND_FOR}, {', '.join(given)} FROM {identifier(self.table)} AS t "
            f"JOIN rk_wanted AS k ON {' AND '.join(same)} ORDER BY k.{FOUND_FOR}"
        )
        with connect(self.path, self.name, read_only=True, patience=self.patience) as database:
            database.register("rk_wanted", numbered)
            found = database.sql(query).to_arrow_table()
        return found.cast(pa.schema([pa.field(FOUND_FOR, pa.int64()), *self.types]))
