"""What stands for a column in a program, and is never a value of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any


class ColumnOperand(ABC):
    """Base of the Table API's expressions, by which functions of the user tell them from values."""

    @abstractmethod
    def call_function(self, function: object, operands: Sequence[object]) -> Any:
        """The expression that calls a function of the user for each row; this is one of its operands."""


def call_on_columns(function: object, operands: Sequence[object]) -> ColumnOperand | None:
    """The call of a function as an expression if an operand is a column, which Python would run once; else None."""
    column = next((operand for operand in operands if isinstance(operand, ColumnOperand)), None)
    return None if column is None else column.call_function(function, operands)
