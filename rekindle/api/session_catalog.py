"""What a table environment does with its catalog, its options and values of Python: all of it as SQL statements."""

from __future__ import annotations

import datetime
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, Self

from execnodes.core.errors import SqlError
from execnodes.core.options import Configuration
from execnodes.core.types import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    STRING,
    LogicalType,
    Root,
    decimal,
    time,
    timestamp,
    timestamp_ltz,
)
from execnodes.core.words import counted
from planner.catalog.catalogs import quoted
from rekindle.api.expressions import Expression
from rekindle.api.literals import literal_sql, path_sql
from rekindle.api.table import Table
from rekindle.api.table_descriptor import TableDescriptor

if TYPE_CHECKING:
    import pandas

    from rekindle.results.table_result import TableResult


class TableConfig:
    """The options of a session."""

    def __init__(self, configuration: Configuration) -> None:
        self._configuration = configuration

    def get(self, key: str, default_value: str | None = None) -> str | None:
        """What is set, else the default that is given."""
        found: str | None = self._configuration.get(key, default_value)
        return found

    def set(self, key: str, value: str) -> Self:
        """Set an option; OptionError for one that there is not, or a bad value."""
        self._configuration.put(key, value)
        return self

    def get_local_timezone(self) -> str:
        """Zone in which instants are shown."""
        return str(self._configuration.get_option("table.local-time-zone"))

    def set_local_timezone(self, timezone_id: str) -> Self:
        """Show instants in a zone."""
        return self.set("table.local-time-zone", timezone_id)


class SessionCatalog(ABC):
    """A part of `TableEnvironment`."""

    configuration: Configuration

    @abstractmethod
    def execute_sql(self, statement: str) -> TableResult:
        """Execute one statement."""

    @abstractmethod
    def sql_query(self, query: str) -> Table:
        """A query as a Table."""

    def get_config(self) -> TableConfig:
        """The options of the session."""
        return TableConfig(self.configuration)

    def from_path(self, path: str) -> Table:
        """A table or view of the catalog; parts of its name that hold a dot stand in backticks."""
        return self.sql_query(f"SELECT * FROM {path_sql(path)}")

    def create_table(self, path: str, descriptor: TableDescriptor, ignore_if_exists: bool = False) -> None:
        """Create a table of the current catalog, as CREATE TABLE does."""
        self.execute_sql(descriptor.statement(path, temporary=False, if_not_exists=ignore_if_exists))

    def create_temporary_table(self, path: str, descriptor: TableDescriptor, ignore_if_exists: bool = False) -> None:
        """Create a table that this session alone knows."""
        self.execute_sql(descriptor.statement(path, temporary=True, if_not_exists=ignore_if_exists))

    def create_temporary_view(self, view_path: str, table: Table) -> None:
        """Register a Table under a name."""
        self.execute_sql(f"CREATE TEMPORARY VIEW {path_sql(view_path)} AS {table.sql}")

    def create_view(self, view_path: str, table: Table, ignore_if_exists: bool = False) -> None:
        """Keep the query of a Table under a name of the current catalog."""
        exists = "IF NOT EXISTS " if ignore_if_exists else ""
        self.execute_sql(f"CREATE VIEW {exists}{path_sql(view_path)} AS {table.sql}")

    def drop_temporary_view(self, view_path: str) -> None:
        """Forget a temporary view, if there is one."""
        self.execute_sql(f"DROP TEMPORARY VIEW IF EXISTS {path_sql(view_path)}")

    def drop_view(self, view_path: str, ignore_if_not_exists: bool = True) -> None:
        """Drop a view of the current catalog."""
        self.execute_sql(f"DROP VIEW {'IF EXISTS ' if ignore_if_not_exists else ''}{path_sql(view_path)}")

    def drop_temporary_table(self, table_path: str) -> None:
        """Forget a temporary table, if there is one."""
        self.execute_sql(f"DROP TEMPORARY TABLE IF EXISTS {path_sql(table_path)}")

    def drop_table(self, table_path: str, ignore_if_not_exists: bool = True) -> None:
        """Drop a table of the current catalog; its data stay."""
        self.execute_sql(f"DROP TABLE {'IF EXISTS ' if ignore_if_not_exists else ''}{path_sql(table_path)}")

    def list_tables(self) -> list[str]:
        """Names of the tables and views of the current database, sorted."""
        return self._names("SHOW TABLES")

    def list_views(self) -> list[str]:
        """Names of the views of the current database, sorted."""
        return self._names("SHOW VIEWS")

    def list_databases(self) -> list[str]:
        """Names of the databases of the current catalog, sorted."""
        return self._names("SHOW DATABASES")

    def list_catalogs(self) -> list[str]:
        """Names of the catalogs, sorted."""
        return self._names("SHOW CATALOGS")

    def list_functions(self) -> list[str]:
        """Names of the functions, those of the system too, sorted."""
        return self._names("SHOW FUNCTIONS")

    def get_current_catalog(self) -> str:
        """Name of the current catalog."""
        return self._names("SHOW CURRENT CATALOG")[0]

    def get_current_database(self) -> str:
        """Name of the current database."""
        return self._names("SHOW CURRENT DATABASE")[0]

    def use_catalog(self, catalog_name: str) -> None:
        """Make a catalog current."""
        self.execute_sql(f"USE CATALOG {quoted((catalog_name,))}")

    def use_database(self, database_name: str) -> None:
        """Make a database of the current catalog current."""
        self.execute_sql(f"USE {quoted((database_name,))}")

    def from_elements(
        self, elements: Iterable[Sequence[Any]], schema: LogicalType | Sequence[str] | None = None
    ) -> Table:
        """Rows as a Table; plans hold them. `schema`: a ROW type, or the names of the columns.

        Without a type it is that of the first value in each column that is not None, as PyFlink has it: int is BIGINT,
        str is STRING. SqlError for rows that are none, or a value without a type.
        """
        rows = list(elements)
        if any(isinstance(row, str) or not isinstance(row, Sequence) for row in rows) or len(set(map(len, rows))) != 1:
            raise SqlError("elements are rows, all of one length", hint="Give one row at least: [(1, 'a'), (2, 'b')].")
        if isinstance(schema, LogicalType):
            if schema.root is not Root.ROW:
                raise SqlError(f"{schema} is no type of rows", hint="Give DataTypes.ROW([DataTypes.FIELD(…), …]).")
            names, types = [field.name for field in schema.fields], [field.type for field in schema.fields]
        else:
            names = list(schema) if schema is not None else [f"_{index + 1}" for index in range(len(rows[0]))]
            types = [_inferred(values) for values in zip(*rows, strict=True)]
        if len(names) != len(rows[0]):
            raise SqlError(
                f"{counted(len(names), 'column')} for rows of {counted(len(rows[0]), 'value')}",
                hint="Name each column once.",
            )
        return self.sql_query(values_sql(rows, names, types))

    def from_pandas(self, pdf: pandas.DataFrame, schema: LogicalType | Sequence[str] | None = None) -> Table:
        """The rows of a pandas frame as a Table; plans hold them. `schema` as in `from_elements`."""
        from rekindle.api.pandas_rows import rows_of

        names, rows = rows_of(pdf)
        return self.from_elements(rows, names if schema is None else schema)

    def _names(self, statement: str) -> list[str]:
        return [str(row[0]) for row in self.execute_sql(statement).rows]


def values_sql(rows: Iterable[Sequence[Any]], names: Sequence[str], types: Sequence[LogicalType]) -> str:
    """VALUES with names and types."""
    written = (
        ", ".join(
            f"CAST({value.sql if isinstance(value, Expression) else literal_sql(value)} AS {t})"
            for value, t in zip(row, types, strict=True)
        )
        for row in rows
    )
    columns = ", ".join(quoted((name,)) for name in names)
    return f"SELECT * FROM (VALUES {', '.join(f'({row})' for row in written)}) AS `elements`({columns})"


def _inferred(values: Sequence[Any]) -> LogicalType:
    given = next((value for value in values if value is not None), None)
    match given:
        case bool():
            return BOOLEAN
        case Integral():
            return BIGINT
        case Real():
            return DOUBLE
        case str():
            return STRING
        case bytes() | bytearray():
            return BYTES
        case Decimal():
            return decimal(38, 18)
        case datetime.datetime():
            return timestamp(6) if given.tzinfo is None else timestamp_ltz(3)
        case datetime.date():
            return DATE
        case datetime.time():
            return time(0)
        case _:
            raise SqlError(
                f"no type can be told from {given!r}",
                hint="Give the types: from_elements(rows, DataTypes.ROW([DataTypes.FIELD('a', DataTypes.INT())])).",
            )
