"""Tables that wait for their aggregates: grouped, windowed, over windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from execnodes.core.errors import SqlError
from planner.catalog.catalogs import quoted
from rekindle.api.expressions import Expression, as_column, as_sql
from rekindle.api.operand import FunctionNames
from rekindle.api.row_functions import RESULT_NAME, call_with_row, flatten_result, spread_result
from rekindle.api.windows import GroupWindow, OverWindow

if TYPE_CHECKING:
    from rekindle.api.table import Table

Column = Expression | str
"""An expression, or SQL text of one."""


def listed(columns: tuple[Column, ...], names: FunctionNames, windows: dict[str, GroupWindow] | None = None) -> str:
    """Columns of SELECT in a session; all, if none is given."""
    return ", ".join(as_column(column, names, windows) for column in columns) or "*"


class GroupedTable:
    """A table with keys, waiting for its aggregates."""

    def __init__(
        self, table: Table, names: FunctionNames, keys: tuple[Column, ...], windows: tuple[GroupWindow, ...] = ()
    ) -> None:
        self._table = table
        self._names = names
        self._keys = keys
        self._windows = {window.alias_sql: window for window in windows}

    def select(self, *columns: Column) -> Table:
        """Keys and aggregates."""
        keys = [as_sql(key, self._names) for key in self._keys]
        if not keys:
            return self._table.derived(f"SELECT {listed(columns, self._names)} FROM {self._table.source()}")
        grouped = ", ".join(self._windows[key].group() if key in self._windows else key for key in keys)
        source = self._table.source()
        return self._table.derived(
            f"SELECT {listed(columns, self._names, self._windows)} FROM {source} GROUP BY {grouped}"
        )

    def aggregate(self, func: object) -> AggregatedTable:
        """An aggregate function that gives a ROW: ``aggregate(f)``, which is called with the whole row, or
        ``aggregate(f(col("a")).alias("x", "y"))``. `select` then names its columns.
        """
        return self._aggregated("aggregate", func, flatten_result)

    def flat_aggregate(self, func: object) -> AggregatedTable:
        """As `aggregate`, of a function that `udtaf` gives: any number of rows a group."""
        return self._aggregated("flat_aggregate", func, spread_result)

    def _aggregated(
        self, method: str, func: object, finish: Callable[[Table, tuple[str, ...]], Table]
    ) -> AggregatedTable:
        if self._windows:
            raise SqlError(f"{method} is not available for windows", hint="Write select(…, f(col('…'))) instead.")
        return AggregatedTable(self, call_with_row(func, self._table), self._keys, finish)


class AggregatedTable:
    """Groups with the columns of a function, waiting for those that are wanted."""

    def __init__(
        self,
        grouped: GroupedTable,
        call: Expression,
        keys: tuple[Column, ...],
        finish: Callable[[Table, tuple[str, ...]], Table],
    ) -> None:
        self._grouped = grouped
        self._call = call
        self._keys = keys
        self._finish = finish

    def select(self, *columns: Column) -> Table:
        """Keys, and columns of the function."""
        result = Expression(*self._call.pieces, names=(RESULT_NAME,))
        return self._finish(self._grouped.select(*self._keys, result), self._call.names).select(*columns)


class WindowedTable:
    """A table with a group window, waiting for the keys."""

    def __init__(self, table: Table, names: FunctionNames, windows: tuple[GroupWindow, ...]) -> None:
        self._table = table
        self._names = names
        self._windows = windows

    def group_by(self, *keys: Column) -> GroupedTable:
        """Group by the window, which must be among the keys, and others. A text is the window's alias or SQL."""
        aliases = {window.name: window.alias_sql for window in self._windows}
        named = tuple(Expression(aliases[key]) if isinstance(key, str) and key in aliases else key for key in keys)
        texts = [as_sql(key, self._names) for key in named]
        missing = [name for name, alias in aliases.items() if alias not in texts]
        if missing:
            raise SqlError(
                f"group_by leaves out the window {missing[0]!r}", hint=f"Write group_by(col({missing[0]!r}), …)."
            )
        return GroupedTable(self._table, self._names, named, self._windows)


class OverWindowedTable:
    """A table with over windows, waiting for its columns."""

    def __init__(self, table: Table, names: FunctionNames, windows: tuple[OverWindow, ...]) -> None:
        self._table = table
        self._names = names
        self._windows = windows

    def select(self, *columns: Column) -> Table:
        """Columns, and aggregates ``over`` a window."""
        windows = ", ".join(window.definition() for window in self._windows)
        selected = listed(columns, self._names)
        return self._table.derived(f"SELECT {selected} FROM {self._table.source()} WINDOW {windows}")


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
