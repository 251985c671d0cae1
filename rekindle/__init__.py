"""Rekindle: long-running streaming SQL on Spark that can be upgraded.

The names that programs use, as PyFlink has them; each is loaded when it is asked for, and none of them loads Spark.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rekindle.moved import OldPaths

if TYPE_CHECKING:
    from rekindle.api.compiled_plan import CompiledPlan
    from rekindle.api.schema import Schema
    from rekindle.api.statement_set import StatementSet
    from rekindle.api.table import Table
    from rekindle.api.table_environment import TableEnvironment
    from rekindle.api.table_result import TableResult
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
    "CompiledPlan": "api.compiled_plan",
    "Schema": "api.schema",
    "StatementSet": "api.statement_set",
    "Table": "api.table",
    "TableEnvironment": "api.table_environment",
    "TableResult": "api.table_result",
}

sys.meta_path.insert(0, OldPaths())


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'udf')}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
