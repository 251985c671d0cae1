"""The Table API: a query that is put together in Python. It is SQL underneath, so that plans come out the same."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, overload

from execnodes.core.errors import SqlError
from execnodes.core.words import counted
from planner.catalog.catalogs import quoted
from rekindle.api.expressions import Expression, as_column, as_sql, column_name
from rekindle.api.grouped_table import (
    AggregatedTable,
    Column,
    GroupedTable,
    OverWindowedTable,
    Window,
    WindowedTable,
    listed,
)
from rekindle.api.literals import path_sql
from rekindle.api.resolved_schema import resolve_query
from rekindle.api.row_functions import RESULT, call_with_row, flatten_result
from rekindle.api.windows import GroupWindow, OverWindow

if TYPE_CHECKING:
    import pandas

    from rekindle.results.compiled_plan import CompiledPlan
    from rekindle.results.resolved_schema import ResolvedSchema
    from rekindle.results.table_result import TableResult
    from rekindle.statements.session import Session

_ROWS = quoted(("rows_of_function",))

__all__ = ["Column", "GroupedTable", "Table", "TablePipeline", "Window"]


@dataclass(frozen=True)
class Tail:
    """ORDER BY, OFFSET and FETCH of a query, which the next method may add to."""

    order: str = ""
    skip: int | None = None
    rows: int | None = None

    def __str__(self) -> str:
        parts = [
            f" ORDER BY {self.order}" if self.order else "",
            f" OFFSET {self.skip} ROWS" if self.skip is not None else "",
            f" FETCH NEXT {self.rows} ROWS ONLY" if self.rows is not None else "",
        ]
        return "".join(parts)


class Table:
    """A query; methods give new ones."""

    def __init__(self, environment: Session, sql: str, tail: Tail = Tail()) -> None:
        self._environment = environment
        self._query = sql
        self._tail = tail

    @property
    def sql(self) -> str:
        """The query as SQL text."""
        return f"{self._query}{self._tail}"

    def __str__(self) -> str:
        """A name in SQL that stands for the query: ``f"SELECT * FROM {table}"``; it is registered for that."""
        return quoted((self._environment.name_query(self.sql),))

    def __repr__(self) -> str:
        return f"Table({self.sql!r})"

    def __getattr__(self, name: str) -> Expression:
        """A column by its name: ``table.price``; AttributeError where there is none."""
        if name.startswith("_") or name not in self.get_resolved_schema().get_column_names():
            raise AttributeError(f"Table has neither a method nor a column {name!r}")
        return Expression(quoted((name,)))

    def select(self, *columns: Column) -> Table:
        """SELECT of expressions."""
        return self.derived(f"SELECT {listed(columns, self._environment)} FROM {self.source()}")

    def where(self, condition: Column) -> Table:
        """Rows for which the condition is TRUE."""
        return self.derived(f"SELECT * FROM {self.source()} WHERE {as_sql(condition, self._environment)}")

    def filter(self, condition: Column) -> Table:
        """As `where`."""
        return self.where(condition)

    def distinct(self) -> Table:
        """Without duplicate rows."""
        return self.derived(f"SELECT DISTINCT * FROM {self.source()}")

    def alias(self, field: str, *fields: str) -> Table:
        """With these names for its first columns."""
        names = self.get_resolved_schema().get_column_names()
        given = (field, *fields)
        if len(given) > len(names):
            raise SqlError(
                f"{counted(len(given), 'name')} for {counted(len(names), 'column')}",
                hint="Give one for each column at most.",
            )
        return self._selected([_named(old, new) for old, new in zip(names, given, strict=False)] + names[len(given) :])

    def add_columns(self, *columns: Column) -> Table:
        """With more columns, behind the others; their names must be new."""
        return self.derived(f"SELECT *, {listed(columns, self._environment)} FROM {self.source()}")

    def add_or_replace_columns(self, *columns: Expression) -> Table:
        """With more columns; one that has the name of another takes its place."""
        changed: dict[str, Expression | str] = dict.fromkeys(self.get_resolved_schema().get_column_names(), "")
        for column in columns:
            changed[column.names[0] if column.names else column_name(column)] = column
        return self._selected([column if isinstance(column, Expression) else name for name, column in changed.items()])

    def drop_columns(self, *columns: Column) -> Table:
        """Without columns, which are there."""
        names = self.get_resolved_schema().get_column_names()
        dropped = [column_name(column) for column in columns]
        self._known(dropped, names)
        return self._selected([name for name in names if name not in dropped])

    def rename_columns(self, *columns: Expression) -> Table:
        """With other names: ``rename_columns(col("a").alias("b"))``."""
        names = self.get_resolved_schema().get_column_names()
        renamed = {column_name(column): column for column in columns}
        self._known(list(renamed), names)
        unnamed = [name for name, column in renamed.items() if not column.names]
        if unnamed:
            raise SqlError(f"column {unnamed[0]!r} has no new name", hint="Write col('a').alias('b').")
        return self._selected([renamed.get(name, name) for name in names])

    def group_by(self, *keys: Column) -> GroupedTable:
        """Group rows; `select` then aggregates."""
        return GroupedTable(self, self._environment, keys)

    @overload
    def window(self, window: GroupWindow) -> WindowedTable: ...

    @overload
    def window(self, window: Window) -> Table: ...

    def window(self, window: GroupWindow | Window) -> WindowedTable | Table:
        """A group window (`Tumble`, `Slide`, `Session`), for `group_by` to name.

        A `Window` is that of a table function instead: the Table gets ``window_start``, ``window_end`` and
        ``window_time``; group by them.
        """
        if isinstance(window, GroupWindow):
            return WindowedTable(self, self._environment, (window,))
        view = self._environment.name_query(self.sql)
        return self.derived(f"SELECT * FROM {window.over(view)}")

    def over_window(self, *over_windows: OverWindow) -> OverWindowedTable:
        """Over windows, for ``over`` in `select` to name."""
        return OverWindowedTable(self, self._environment, over_windows)

    def join(self, right: Table, join_predicate: Column | None = None) -> Table:
        """Inner join; column names of both sides must differ, or be renamed before."""
        if join_predicate is None:
            return self.derived(f"SELECT * FROM {self.source()} CROSS JOIN {right.source()}")
        return self._join("JOIN", right, join_predicate)

    def left_outer_join(self, right: Table, join_predicate: Column) -> Table:
        """All rows of this table; NULLs where no row of the other meets the condition."""
        return self._join("LEFT JOIN", right, join_predicate)

    def right_outer_join(self, right: Table, join_predicate: Column) -> Table:
        """All rows of the other table; NULLs where no row of this one meets the condition."""
        return self._join("RIGHT JOIN", right, join_predicate)

    def full_outer_join(self, right: Table, join_predicate: Column) -> Table:
        """All rows of both tables; NULLs where none of the other side meets the condition."""
        return self._join("FULL JOIN", right, join_predicate)

    def join_lateral(self, table_function_call: object, join_predicate: Column | None = None) -> Table:
        """Each row with the rows that a table function gives for it, or ``call("UNNEST", col("a")).alias("x")``.

        A function that is not called, ``join_lateral(f.alias("x"))``, is called with the whole row.
        """
        return self._lateral("JOIN", table_function_call, join_predicate)

    def left_outer_join_lateral(self, table_function_call: object, join_predicate: Column | None = None) -> Table:
        """As `join_lateral`; rows for which the function gives none stay, with NULLs."""
        return self._lateral("LEFT JOIN", table_function_call, join_predicate)

    def map(self, func: object) -> Table:
        """What a scalar function gives for each row, a column for each field of a ROW: ``map(f)``, which is called with
        the whole row, or ``map(f(col("a")))``.
        """
        call = self._called(func)
        given = self.derived(f"SELECT {as_sql(call, self._environment)} AS {RESULT} FROM {self.source()}")
        return flatten_result(given, call.names)

    def flat_map(self, func: object) -> Table:
        """The rows that a table function gives for each row: ``flat_map(f)``, which is called with the whole row, or
        ``flat_map(f(col("a")))``.
        """
        call = self._called(func)
        return self.derived(f"SELECT {_ROWS}.* FROM {self.source()} CROSS JOIN {self._function_table(call)}")

    def aggregate(self, func: object) -> AggregatedTable:
        """As `GroupedTable.aggregate`, of all rows."""
        return self.group_by().aggregate(func)

    def flat_aggregate(self, func: object) -> AggregatedTable:
        """As `GroupedTable.flat_aggregate`, of all rows."""
        return self.group_by().flat_aggregate(func)

    def union_all(self, right: Table) -> Table:
        """Rows of both."""
        return self._set("UNION ALL", right)

    def union(self, right: Table) -> Table:
        """Rows of both, without duplicates."""
        return self._set("UNION", right)

    def minus(self, right: Table) -> Table:
        """Rows that the other has not, without duplicates."""
        return self._set("EXCEPT", right)

    def minus_all(self, right: Table) -> Table:
        """Rows that the other has not, as often as they are here more often."""
        return self._set("EXCEPT ALL", right)

    def intersect(self, right: Table) -> Table:
        """Rows that both have, without duplicates."""
        return self._set("INTERSECT", right)

    def intersect_all(self, right: Table) -> Table:
        """Rows that both have, as often as both have them."""
        return self._set("INTERSECT ALL", right)

    def order_by(self, *fields: Column) -> Table:
        """In an order: ``order_by(col("a").desc)``; `limit`, `offset` and `fetch` behind it cut by it."""
        return self._cut(Tail(", ".join(as_sql(field, self._environment) for field in fields)))

    def offset(self, offset: int) -> Table:
        """Without the first rows."""
        tail = self._tail
        if tail.skip is None and tail.rows is None and tail.order:
            return Table(self._environment, self._query, Tail(tail.order, _count(offset)))
        return self._cut(Tail(skip=_count(offset)))

    def fetch(self, fetch: int) -> Table:
        """The first rows alone."""
        tail = self._tail
        if tail.rows is None and (tail.order or tail.skip is not None):
            return Table(self._environment, self._query, Tail(tail.order, tail.skip, _count(fetch)))
        return self._cut(Tail(rows=_count(fetch)))

    def limit(self, fetch: int, offset: int = 0) -> Table:
        """The first rows alone, after `offset` others."""
        return self.offset(offset).fetch(fetch) if offset else self.fetch(fetch)

    def insert_into(self, table: str, overwrite: bool = False) -> TablePipeline:
        """A pipeline into a table of the catalog, which can be compiled, explained and executed."""
        verb = "INSERT OVERWRITE" if overwrite else "INSERT INTO"
        return TablePipeline(self._environment, f"{verb} {path_sql(table)}\n{self.sql}")

    def execute_insert(self, table_path: str, overwrite: bool = False) -> TableResult:
        """Start writing into a table of the catalog."""
        return self.insert_into(table_path, overwrite).execute()

    def compile_plan(self) -> CompiledPlan:
        """The query as a plan; its rows are collected when it runs."""
        return self._environment.compile_plan_sql(self.sql)

    def execute(self) -> TableResult:
        """Run the query."""
        return self._environment.execute_sql(self.sql)

    def to_pandas(self) -> pandas.DataFrame:
        """Run the query to its end; the rows that its changes leave."""
        from rekindle.api.pandas_rows import frame_of

        return frame_of(self.execute())

    def explain(self, *details: str) -> str:
        """The plan as a tree."""
        return self._environment.explain_sql(self.sql, *details)

    def print_explain(self, *details: str) -> None:
        """Write the plan as a tree."""
        print(self.explain(*details), file=sys.stdout)

    def get_resolved_schema(self) -> ResolvedSchema:
        """Names and types of the columns."""
        return resolve_query(self.sql, self._environment.catalog, self._environment.configuration)

    def get_schema(self) -> ResolvedSchema:
        """As `get_resolved_schema`."""
        return self.get_resolved_schema()

    def print_schema(self) -> None:
        """Write names and types of the columns."""
        print(self.get_resolved_schema(), file=sys.stdout)

    def source(self) -> str:
        """The query as a part of FROM."""
        # The line ends because the text may end in a comment.
        return f"({self.sql}\n)"

    def derived(self, sql: str) -> Table:
        """Another query of the same session."""
        return Table(self._environment, sql)

    def _cut(self, tail: Tail) -> Table:
        return Table(self._environment, f"SELECT * FROM {self.source()}", tail)

    def _selected(self, columns: list[Expression | str]) -> Table:
        """SELECT of expressions and of columns by name."""
        parts = [
            as_column(each, self._environment) if isinstance(each, Expression) else quoted((each,)) for each in columns
        ]
        if not parts:
            raise SqlError("no column is left", hint="Keep one column at least.")
        return self.derived(f"SELECT {', '.join(parts)} FROM {self.source()}")

    def _known(self, given: list[str], names: list[str]) -> None:
        unknown = [name for name in given if name not in names]
        if unknown:
            raise SqlError(f"there is no column {unknown[0]!r}", hint=f"There is {', '.join(names)}.")

    def _set(self, operator: str, right: Table) -> Table:
        return self.derived(f"{self.source()} {operator} {right.source()}")

    def _join(self, kind: str, right: Table, condition: Column) -> Table:
        return self.derived(
            f"SELECT * FROM {self.source()} {kind} {right.source()} ON {as_sql(condition, self._environment)}"
        )

    def _called(self, function: object) -> Expression:
        """An expression as it is, a function of the user called with the whole row."""
        return function if isinstance(function, Expression) else call_with_row(function, self)

    def _function_table(self, function: Expression) -> str:
        """A table function, or UNNEST, in FROM."""
        text = as_sql(function, self._environment)
        called = text if text.upper().startswith("UNNEST(") else f"LATERAL TABLE({text})"
        columns = ", ".join(quoted((name,)) for name in function.names)
        return f"{called} AS {_ROWS}{f'({columns})' if columns else ''}"

    def _lateral(self, kind: str, given: object, condition: Column | None) -> Table:
        called = self._function_table(self._called(given))
        on = "TRUE" if condition is None else as_sql(condition, self._environment)
        if kind == "JOIN" and condition is None:
            return self.derived(f"SELECT * FROM {self.source()} CROSS JOIN {called}")
        return self.derived(f"SELECT * FROM {self.source()} {kind} {called} ON {on}")


class TablePipeline:
    """A query with its target table."""

    def __init__(self, environment: Session, sql: str) -> None:
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


def _named(old: str, new: str) -> Expression:
    return Expression(quoted((old,)), names=(new,))


def _count(given: int) -> int:
    if given < 0:
        raise SqlError(f"{given} is no number of rows", hint="Give 0 or more.")
    return int(given)
