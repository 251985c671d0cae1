"""Reading a savepoint without Spark: its states as rows, as tables of SQL, and how they are spread.

The counterpart of Flink's State Processor API; `rekindle.savepoints.writer` is the other half.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from execnodes.core.errors import StateError
from execnodes.core.types import LogicalType
from execnodes.core.words import counted
from rekindle.connectors.duckdb_sql import quoted
from rekindle.files.paths import entered
from rekindle.savepoints.contents import check_columns, read
from rekindle.savepoints.database import connected, create_views, fetch, paths, select, view
from rekindle.savepoints.file_columns import (
    arrow_type,
    column_types,
    distinct_names,
    duckdb_type,
    file_columns,
    literal,
)
from rekindle.savepoints.manifest import Manifest, SavedState, wrong

if TYPE_CHECKING:
    import duckdb
    import pyarrow as pa

BATCH_ROWS = 100_000


@dataclass(frozen=True)
class Skew:
    """How a state's rows are spread over the key groups of its savepoint."""

    rows: tuple[int, ...]
    """Of each key group."""

    @property
    def smallest(self) -> int:
        """Rows of the emptiest key group."""
        return min(self.rows)

    @property
    def median(self) -> int:
        """Rows of the key group in the middle."""
        return sorted(self.rows)[len(self.rows) // 2]

    @property
    def largest(self) -> int:
        """Rows of the fullest key group."""
        return max(self.rows)


@dataclass(frozen=True)
class Found:
    """Rows of one state that have a key."""

    state: SavedState
    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    groups: tuple[int, ...]
    """Key group of each row."""


@dataclass(frozen=True)
class SavepointReader:
    """A savepoint whose files have been checked."""

    folder: Path
    manifest: Manifest

    @classmethod
    def read(cls, path: str | Path) -> Self:
        """Open a savepoint; StateError if it is not whole."""
        folder = entered(path)
        return cls(folder, read(folder))

    @property
    def states(self) -> tuple[SavedState, ...]:
        """All states, as the plan has its operators."""
        return self.manifest.states

    def state(self, address: str) -> SavedState:
        """The state ``UID:NAME``, or the only one of ``UID``; StateError if there is none, or more than one."""
        found = chosen(self.manifest, address)
        if len(found) > 1:
            known = "\n".join(each.title for each in found)
            raise StateError(f"{address} has {counted(len(found), 'state')}", hint=f"Say which one:\n{known}")
        return found[0]

    def batches(self, address: str, rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
        """The rows of a state, at most `rows` at a time; columns as in `rekindle.savepoints.file_columns`."""
        state = self.state(address)
        return arrow_batches(state, paths(self.folder, state), rows)

    def table(self, address: str) -> pa.Table:
        """All rows of a state."""
        import pyarrow as pa

        return pa.Table.from_batches(self.batches(address), arrow_schema(self.state(address)))

    def rows(self, address: str, limit: int) -> list[dict[str, Any]]:
        """The first rows of a state."""
        found: list[dict[str, Any]] = []
        for batch in self.batches(address, max(1, min(limit, BATCH_ROWS))):
            found += batch.slice(0, limit - len(found)).to_pylist()
            if len(found) >= limit:
                break
        return found

    @contextmanager
    def connect(self) -> Iterator[duckdb.DuckDBPyConnection]:
        """A DuckDB database of the states (see `create_views`); changes in it reach no file."""
        with connected(self.folder) as connection:
            create_views(connection, self.folder, self.manifest)
            yield connection

    @contextmanager
    def query(self, sql: str) -> Iterator[tuple[tuple[str, ...], Iterator[tuple[Any, ...]]]]:
        """Columns and rows of one SELECT over the states; StateError for anything else."""
        import duckdb

        with self.connect() as connection:
            kinds = [each.type for each in connection.extract_statements(sql)]
            if kinds != [duckdb.StatementType.SELECT]:
                raise StateError("this is not one SELECT", hint="To change state, see `rekindle state edit`.")
            if "savepoint_key_groups" in sql:
                self._count_key_groups(connection)
            try:
                found = fetch(connection, sql)
            except duckdb.CatalogException as error:
                known = "\n".join(["savepoint", *(view(each) for each in self.states)])
                raise StateError(str(error).strip(), hint=f"Tables:\n{known}") from error
            yield found

    def skew(self, address: str, max_parallelism: int | None = None) -> Skew:
        """Rows by key group, for the savepoint's maximum parallelism or another one."""
        state = self.state(address)
        groups = max_parallelism or state.max_parallelism
        with connected(self.folder) as connection:
            return skew(connection, state, select(state, paths(self.folder, state)), groups)

    def find(self, keys: Sequence[str], *, anywhere: bool = False, limit: int = 20) -> Iterator[Found]:
        """Rows, at most `limit` of a state, whose key has all these values; with `anywhere` also other columns.

        Values are texts; ``NULL`` finds NULL, too. States that have no such row are left out.
        """
        with connected(self.folder) as connection:
            for state in self.states:
                types = column_types(state)
                among = list(types) if anywhere else list(state.key)
                names = dict(zip(file_columns(state), distinct_names(file_columns(state)), strict=True))
                conditions = [
                    "(" + " OR ".join(_equal(quoted(names[each]), types[each], key) for each in among) + ")"
                    for key in keys
                ]
                if not among:
                    continue
                rows = select(state, paths(self.folder, state))
                chosen_rows = f"SELECT * FROM ({rows}) WHERE {' AND '.join(conditions)} LIMIT {limit}"
                columns, values = fetch(connection, chosen_rows)
                found = tuple(values)
                if found:
                    groups = _key_groups(connection, state, chosen_rows, state.max_parallelism)
                    yield Found(state, columns, found, tuple(int(n) for each in groups for n in each))

    def _count_key_groups(self, connection: duckdb.DuckDBPyConnection) -> None:
        connection.execute(
            "CREATE TABLE savepoint_key_groups (uid VARCHAR, name VARCHAR, key_group BIGINT, rows BIGINT)"
        )
        for state in self.states:
            counts = skew(connection, state, select(state, paths(self.folder, state)), state.max_parallelism).rows
            rows = [[state.uid, state.name, group, count] for group, count in enumerate(counts)]
            connection.executemany("INSERT INTO savepoint_key_groups VALUES (?, ?, ?, ?)", rows)


def chosen(manifest: Manifest, address: str) -> list[SavedState]:
    """The states of UID or of UID:NAME; StateError if there are none."""
    uid, sign, name = address.rpartition(":")
    found = [each for each in manifest.states if each.title == address or each.uid == address]
    found = found or [each for each in manifest.states if sign and (each.uid, each.name) == (uid, name)]
    if not found:
        known = "\n".join(each.title for each in manifest.states) or "There is none."
        raise StateError(f"there is no state {address}", hint=f"States:\n{known}")
    return found


def arrow_schema(state: SavedState) -> pa.Schema:
    """Columns of a state's files, for Arrow."""
    import pyarrow as pa

    return pa.schema([(name, arrow_type(t)) for name, t in file_columns(state).items()])


def arrow_batches(state: SavedState, files: Iterable[Path], rows: int = BATCH_ROWS) -> Iterator[pa.RecordBatch]:
    """The rows of a state's files, at most so many at a time; StateError if they are not what the state says."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = arrow_schema(state)
    for path in files:
        try:
            file = pq.ParquetFile(path, coerce_int96_timestamp_unit="us")
            check_columns(state, path, file.schema_arrow.names)
            for batch in file.iter_batches(batch_size=rows, columns=schema.names):
                yield batch.select(schema.names).cast(schema)
        except pa.ArrowException as error:
            raise wrong(path, f"the file does not hold {state.title}: {error}", "Use another savepoint.") from error


def skew(connection: duckdb.DuckDBPyConnection, state: SavedState, rows: str, groups: int) -> Skew:
    """Count the rows of a query by key group; it has the columns of `select`."""
    import numpy as np

    counts = np.zeros(groups, np.int64)
    for numbers in _key_groups(connection, state, rows, groups):
        counts += np.bincount(numbers, minlength=groups)
    return Skew(tuple(int(each) for each in counts))


def _key_groups(connection: duckdb.DuckDBPyConnection, state: SavedState, rows: str, groups: int) -> Iterator[Any]:
    """Arrays of the key groups of a query's rows, in their order."""
    from rekindle.savepoints.key_groups import key_groups, slot_text

    types = column_types(state)
    names = dict(zip(file_columns(state), distinct_names(file_columns(state)), strict=True))
    texts = [f"{slot_text(types[name], quoted(names[name]))} AS k{i}" for i, name in enumerate(state.key)]
    found = connection.sql(f"SELECT {', '.join(texts) or 'true AS k'} FROM ({rows})").to_arrow_table()
    for batch in found.to_batches():
        slots = batch.columns if state.key else ()
        yield key_groups(slots, batch.num_rows, groups)


def _equal(column: str, t: LogicalType, key: str) -> str:
    same = f"{column} = TRY_CAST({literal(key)} AS {duckdb_type(t)})"
    return f"{same} OR {column} IS NULL" if key.upper() == "NULL" else same
