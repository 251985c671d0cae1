"""What stands for a column in a program, and is never a value of one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

from execnodes.user_functions.running import is_running


class ColumnOperand(ABC):
    """Base of the Table API's expressions, by which functions of the user tell them from values."""

    expressions: ClassVar[type[ColumnOperand] | None] = None
    """The class that all of them are of; None where the Table API is not loaded."""

    def __init_subclass__(cls, *, is_whole: bool = False) -> None:
        """`is_whole`: the class is that of `expressions`."""
        if is_whole:
            ColumnOperand.expressions = cls

    @abstractmethod
    def call_function(self, function: object, operands: Sequence[object]) -> Any:
        """The expression that calls a function of the user for each row."""


def call_on_columns(function: object, operands: Sequence[object]) -> ColumnOperand | None:
    """The call of a function as an expression if an operand is a column, which Python would run once; else None.

    Without operands it is a call, too, unless another function is what calls it for a row.
    """
    column = next((operand for operand in operands if isinstance(operand, ColumnOperand)), None)
    if column is None and not operands and not is_running() and ColumnOperand.expressions is not None:
        column = ColumnOperand.expressions()
    return None if column is None else column.call_function(function, operands)
