"""What stands for a column in a program, and is never a value of one."""

from __future__ import annotations

from collections.abc import Iterable

from execnodes.core.errors import FunctionError


class ColumnOperand:
    """Base of the Table API's expressions, by which functions of the user tell them from values."""


def reject_columns(name: str, operands: Iterable[object]) -> None:
    """FunctionError for an expression among what a function of Python is called with: it would not run for each row."""
    if any(isinstance(operand, ColumnOperand) for operand in operands):
        raise FunctionError(
            f"function {name} is called with a column, not with a value",
            hint="Register the function with create_temporary_system_function('f', …), and write call('f', col('c')).",
        )
