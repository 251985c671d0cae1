"""What users write for an aggregate: `AggregateFunction`, with PyFlink's methods."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from execnodes.user_functions.user_defined_function import UserDefinedFunction


class AggregateFunction(UserDefinedFunction, ABC):
    """Folds the rows of a group into an accumulator, which is state, and tells a value from it.

    A subclass may also have ``retract(accumulator, *args)``, which takes a row back; without it the function cannot be
    used where rows are updated or deleted. With ``merge(accumulator, accumulators)``, which takes in what others have
    folded, rows are folded before they are shuffled; the order of rows must then not matter.
    """

    @abstractmethod
    def create_accumulator(self) -> Any:
        """The accumulator of a group without rows. Its hint is what state holds: see `get_accumulator_type`."""

    @abstractmethod
    def accumulate(self, accumulator: Any, *args: Any) -> Any:
        """Take in a row: change the accumulator, or return another one. Called in the order of the rows."""

    @abstractmethod
    def get_value(self, accumulator: Any) -> Any:
        """The result of a group."""

    def get_accumulator_type(self) -> Any:
        """What accumulators are; by default the hint of `create_accumulator`.

        A dataclass, a type of SQL (of a ROW accumulators are dicts, whose fields are also found by place), or a
        `TypeSerializer`; None for anything else, which is pickled and can never evolve.
        """
        return None

    def get_result_type(self) -> Any:
        """The type of results, by default the hint of `get_value`."""
        return None

    def is_deterministic(self) -> bool:
        """Whether the same rows always give the same value."""
        return True
