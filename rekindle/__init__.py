"""Rekindle: long-running streaming SQL on Spark that can be upgraded.

The names that programs use, as PyFlink has them; each is loaded when it is asked for, and none of them loads Spark.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rekindle.compiled_plan import CompiledPlan
    from rekindle.schema import Schema
    from rekindle.statement_set import StatementSet
    from rekindle.table import Table
    from rekindle.table_environment import TableEnvironment
    from rekindle.table_result import TableResult
    from rekindle.udf import AggregateFunction, FunctionContext, ScalarFunction, udaf, udf

__all__ = [
    "AggregateFunction",
    "CompiledPlan",
    "FunctionContext",
    "ScalarFunction",
    "Schema",
    "StatementSet",
    "Table",
    "TableEnvironment",
    "TableResult",
    "udaf",
    "udf",
]

_MODULES = {
    "CompiledPlan": "compiled_plan",
    "Schema": "schema",
    "StatementSet": "statement_set",
    "Table": "table",
    "TableEnvironment": "table_environment",
    "TableResult": "table_result",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'udf')}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
