"""Rekindle: long-running streaming SQL on Spark that can be upgraded.

The names that programs use, as PyFlink has them; each is loaded when it is asked for, and none of them loads Spark.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from rekindle.moved import OldPaths

if TYPE_CHECKING:
    from rekindle.api.compiled_plan import CompiledPlan
    from rekindle.api.schema import Schema
    from rekindle.api.statement_set import StatementSet
    from rekindle.api.table import Table
    from rekindle.api.table_environment import TableEnvironment
    from rekindle.api.table_result import TableResult
    from rekindle.savepoints.reader import SavepointReader
    from rekindle.savepoints.writer import SavepointWriter
    from rekindle.udf import AggregateFunction, FunctionContext, ScalarFunction, udaf, udf

__all__ = [
    "AggregateFunction",
    "CompiledPlan",
    "FunctionContext",
    "SavepointReader",
    "SavepointWriter",
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
    "SavepointReader": "savepoints.reader",
    "SavepointWriter": "savepoints.writer",
    "Schema": "api.schema",
    "StatementSet": "api.statement_set",
    "Table": "api.table",
    "TableEnvironment": "api.table_environment",
    "TableResult": "api.table_result",
}

sys.meta_path.insert(0, OldPaths())


class _Package(ModuleType):
    """The function `udf` has the name of the module that it is in, which Python binds here when it is imported."""

    @property
    def udf(self) -> Any:
        return import_module(f"{__name__}.udf").udf

    @udf.setter
    def udf(self, module: ModuleType) -> None:
        """`rekindle.udf` stands in `sys.modules`; here the name is that of the function."""


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES.get(name, 'udf')}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
