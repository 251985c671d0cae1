"""Aggregate functions of pandas: a function that gets all rows of a group at once, a Series a parameter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from execnodes.user_functions.aggregate_function import AggregateFunction


class PandasAggregate(AggregateFunction):
    """Keeps the values of a group, and calls a function with them for its result."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def create_accumulator(self) -> list[list[Any]]:
        """For each parameter the values so far."""
        return []

    def accumulate(self, accumulator: list[list[Any]], *args: Any) -> None:
        """Add the values of some rows."""
        self._extend(accumulator, [series.tolist() for series in args])

    def merge(self, accumulator: list[list[Any]], accumulators: list[list[list[Any]]]) -> None:
        """Add the values of others."""
        for other in accumulators:
            self._extend(accumulator, other)

    def get_value(self, accumulator: list[list[Any]]) -> Any:
        """What the function makes of all of them; NULL of no rows."""
        import pandas

        if not accumulator:
            return None
        result = self.function(*map(pandas.Series, accumulator))
        return result.item() if hasattr(result, "item") else result

    def _extend(self, accumulator: list[list[Any]], columns: list[list[Any]]) -> None:
        if not accumulator:
            accumulator.extend([] for _ in columns)
        for known, new in zip(accumulator, columns, strict=True):
            known.extend(new)
