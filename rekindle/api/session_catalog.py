"""What a table environment does with its catalog, its options and values of Python: all of it as SQL statements."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import SqlError
from execnodes.core.options import Configuration
from execnodes.core.types import (
    LogicalType,
    Root,
)
from execnodes.core.words import counted
from planner.catalog.catalogs import quoted
from rekindle.api.elements import expressions_sql, infer_type, names_of, values_of, values_sql
from rekindle.api.expressions import Expression
from rekindle.api.literals import path_sql
from rekindle.api.table import Table
from rekindle.api.table_config import TableConfig
from rekindle.api.table_descriptor import TableDescriptor

if TYPE_CHECKING:
    import pandas

    from rekindle.results.table_result import TableResult


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

    def from_elements(self, elements: Iterable[Any], schema: LogicalType | Sequence[str] | None = None) -> Table:
        """Rows (tuples, lists, `Row`, dicts) as a Table; plans hold them. `schema`: a ROW type, or names of columns.

        Without a type it is that of the first value in each column that is not None, as PyFlink has it: int is BIGINT,
        str is STRING, a list an ARRAY, a dict a MAP; columns are nullable. Elements may all be expressions, such as
        ``row(1, "a")``; their types are those of SQL. SqlError for rows that are none, or a value without a type.
        """
        given = list(elements)
        if given and all(isinstance(each, Expression) for each in given):
            return self._from_expressions(given, schema)
        rows = [row for row in map(values_of, given) if row is not None]
        if len(rows) < len(given) or len(set(map(len, rows))) != 1:
            raise SqlError("elements are rows, all of one length", hint="Give one row at least: [(1, 'a'), (2, 'b')].")
        own = names_of(given[0]) or [f"_{index + 1}" for index in range(len(rows[0]))]
        names, types = _columns(schema, own)
        return self.sql_query(values_sql(rows, names, types or [infer_type(each) for each in zip(*rows, strict=True)]))

    def _from_expressions(self, elements: Sequence[Expression], schema: LogicalType | Sequence[str] | None) -> Table:
        values = f"VALUES {', '.join(each.sql for each in elements)}"
        width = len(self.sql_query(values).get_schema().get_field_names())
        return self.sql_query(expressions_sql(values, *_columns(schema, [f"f{index}" for index in range(width)])))

    def from_pandas(self, pdf: pandas.DataFrame, schema: LogicalType | Sequence[str] | None = None) -> Table:
        """The rows of a pandas frame as a Table; plans hold them. `schema` as in `from_elements`."""
        from rekindle.api.pandas_rows import rows_of

        names, rows = rows_of(pdf)
        return self.from_elements(rows, names if schema is None else schema)

    def from_descriptor(self, descriptor: TableDescriptor) -> Table:
        """A table that has no name of its own; its temporary name is new each time."""
        name = f"table_{len(self.list_tables()) + 1}"
        while name in self.list_tables():
            name = f"{name}_"
        self.create_temporary_table(name, descriptor)
        return self.from_path(name)

    def _names(self, statement: str) -> list[str]:
        return [str(row[0]) for row in self.execute_sql(statement).rows]


def _columns(schema: LogicalType | Sequence[str] | None, own: list[str]) -> tuple[list[str], list[LogicalType]]:
    """Names of columns, and their types if the schema is one."""
    types = list[LogicalType]()
    if isinstance(schema, LogicalType):
        if schema.root is not Root.ROW:
            raise SqlError(f"{schema} is no type of rows", hint="Give DataTypes.ROW([DataTypes.FIELD(…), …]).")
        names, types = [field.name for field in schema.fields], [field.type for field in schema.fields]
    else:
        names = own if schema is None else list(schema)
    if len(names) != len(own):
        raise SqlError(
            f"{counted(len(names), 'column')} for rows of {counted(len(own), 'value')}", hint="Name each column once."
        )
    return names, types
