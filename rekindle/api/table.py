"""The Table API: a query that is put together in Python. It is SQL underneath, so that plans come out the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from planner.catalog.catalogs import quoted
from rekindle.api.expressions import Expression, as_sql

if TYPE_CHECKING:
    from rekindle.api.compiled_plan import CompiledPlan
    from rekindle.api.table_environment import TableEnvironment
    from rekindle.api.table_result import TableResult

Column = Expression | str
"""An expression, or SQL text of one."""


class Table:
    """A query; methods give new ones."""

    def __init__(self, environment: TableEnvironment, sql: str) -> None:
        self._environment = environment
        self.sql = sql

    def select(self, *columns: Column) -> Table:
        """SELECT of expressions."""
        return self._over(f"SELECT {_list(columns)} FROM {self._source()}")

    def where(self, condition: Column) -> Table:
        """Rows for which the condition is TRUE."""
        return self._over(f"SELECT * FROM {self._source()} WHERE {as_sql(condition)}")

    def filter(self, condition: Column) -> Table:
        """As `where`."""
        return self.where(condition)

    def distinct(self) -> Table:
        """Without duplicate rows."""
        return self._over(f"SELECT DISTINCT * FROM {self._source()}")

    def group_by(self, *keys: Column) -> GroupedTable:
        """Group rows; `select` then aggregates."""
        return GroupedTable(self, keys)

    def window(self, window: Window) -> Table:
        """Add ``window_start``, ``window_end`` and ``window_time`` of a window table function; group by them."""
        view = self._environment.name_query(self.sql)
        return self._over(f"SELECT * FROM {window.over(view)}")

    def join(self, right: Table, condition: Column) -> Table:
        """Inner join; column names of both sides must differ, or be renamed before."""
        return self._join("JOIN", right, condition)

    def left_outer_join(self, right: Table, condition: Column) -> Table:
        """Left join."""
        return self._join("LEFT JOIN", right, condition)

    def right_outer_join(self, right: Table, condition: Column) -> Table:
        """Right join."""
        return self._join("RIGHT JOIN", right, condition)

    def full_outer_join(self, right: Table, condition: Column) -> Table:
        """Full join."""
        return self._join("FULL JOIN", right, condition)

    def union_all(self, right: Table) -> Table:
        """Rows of both."""
        return self._over(f"({self.sql}) UNION ALL ({right.sql})")

    def union(self, right: Table) -> Table:
        """Rows of both, without duplicates."""
        return self._over(f"({self.sql}) UNION ({right.sql})")

    def insert_into(self, table: str, overwrite: bool = False) -> TablePipeline:
        """A pipeline into a table of the catalog, which can be compiled, explained and executed."""
        verb = "INSERT OVERWRITE" if overwrite else "INSERT INTO"
        name = quoted(tuple(table.split(".")))
        return TablePipeline(self._environment, f"{verb} {name}\n{self.sql}")

    def compile_plan(self) -> CompiledPlan:
        """The query as a plan; its rows are collected when it runs."""
        return self._environment.compile_plan_sql(self.sql)

    def execute(self) -> TableResult:
        """Run the query."""
        return self._environment.execute_sql(self.sql)

    def explain(self, *details: str) -> str:
        """The plan as a tree."""
        return self._environment.explain_sql(self.sql, *details)

    def _source(self) -> str:
        return f"({self.sql})"

    def _over(self, sql: str) -> Table:
        return Table(self._environment, sql)

    def _join(self, kind: str, right: Table, condition: Column) -> Table:
        return self._over(f"SELECT * FROM {self._source()} {kind} {right._source()} ON {as_sql(condition)}")


class GroupedTable:
    """A table with keys, waiting for its aggregates."""

    def __init__(self, table: Table, keys: tuple[Column, ...]) -> None:
        self._table = table
        self._keys = keys

    def select(self, *columns: Column) -> Table:
        """Keys and aggregates."""
        grouped = f"SELECT {_list(columns)} FROM {self._table._source()} GROUP BY {_list(self._keys)}"
        return self._table._over(grouped)


class Window:
    """A window table function; lengths are SQL intervals, e.g. ``"INTERVAL '10' MINUTE"``."""

    def __init__(self, function: str, time: str, *lengths: str) -> None:
        self._function = function
        self._time = time
        self._lengths = lengths

    @classmethod
    def tumble(cls, time: str, size: str) -> Window:
        """Fixed windows next to each other."""
        return cls("TUMBLE", time, size)

    @classmethod
    def hop(cls, time: str, slide: str, size: str) -> Window:
        """Fixed windows that begin every `slide`."""
        return cls("HOP", time, slide, size)

    def over(self, table: str) -> str:
        """The table function's SQL."""
        lengths = ", ".join(self._lengths)
        return f"TABLE({self._function}(TABLE {quoted((table,))}, DESCRIPTOR({quoted((self._time,))}), {lengths}))"


class TablePipeline:
    """A query with its target table."""

    def __init__(self, environment: TableEnvironment, sql: str) -> None:
        self._environment = environment
        self.sql = sql

    def compile_plan(self) -> CompiledPlan:
        """The pipeline as a plan."""
        return self._environment.compile_plan_sql(self.sql)

    def execute(self) -> TableResult:
        """Start the pipeline."""
        return self._environment.execute_sql(self.sql)

    def explain(self, *details: str) -> str:
        """The plan as a tree."""
        return self._environment.explain_sql(self.sql, *details)


def _list(columns: tuple[Column, ...]) -> str:
    return ", ".join(map(as_sql, columns)) or "*"
