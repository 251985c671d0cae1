"""Columns of state on their way through a migration: nothing is read or converted that need not be."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any, Generic, TypeVar

Source = TypeVar("Source")


class UnreadColumn(Sequence[Any], Generic[Source]):
    """Values as functions see them; what a migration hands on untouched need not be read, nor written anew."""

    def __init__(self, source: Source, read: Callable[[Source], Sequence[Any]]) -> None:
        """`source`: the column in Arrow or Polars."""
        self.source = source
        self._read = read

    @cached_property
    def _values(self) -> Sequence[Any]:
        return self._read(self.source)

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, at: Any) -> Any:
        return self._values[at]


def converted(convert: Callable[[Any], Any] | None, values: Sequence[Any]) -> Sequence[Any]:
    """Every value through a function; a default that is repeated goes through it once."""
    if convert is None or not values:
        return values
    if all(each is values[0] for each in values):
        return [convert(values[0])] * len(values)
    return list(map(convert, values))
