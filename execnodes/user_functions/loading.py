"""From what a user gives or names to the definition of a function."""

from __future__ import annotations

import importlib
import inspect
import os
import sys
from importlib.machinery import PathFinder
from typing import Any

from execnodes.core import consent
from execnodes.core.errors import FunctionError
from execnodes.user_functions.aggregate import (
    AggregateDefinition,
    AggregateFunction,
    GivenAggregate,
    UserDefinedAggregateFunction,
    define_aggregate,
)
from execnodes.user_functions.scalar import (
    Given,
    ScalarDefinition,
    ScalarFunction,
    UserDefinedScalarFunction,
    define,
)
from execnodes.user_functions.table import (
    GivenTable,
    TableDefinition,
    TableFunction,
    UserDefinedTableFunction,
    define_table,
)
from execnodes.user_functions.table_aggregate import (
    GivenTableAggregate,
    TableAggregateFunction,
    define_table_aggregate,
)

Definition = ScalarDefinition | TableDefinition | AggregateDefinition
Function = (
    Given
    | UserDefinedScalarFunction
    | GivenTable
    | UserDefinedTableFunction
    | GivenAggregate
    | UserDefinedAggregateFunction
    | GivenTableAggregate
)
"""What can be registered."""


def definition_of(given: Any, name: str) -> Definition:
    """The function under the name that SQL knows it by: made by `udf`, `udtf`, `udaf` or `udtaf`, a function class or
    object, or a plain function with hints. FunctionError if it is none of these.
    """
    if isinstance(given, UserDefinedScalarFunction | UserDefinedTableFunction | UserDefinedAggregateFunction):
        return given.definition.named(name)
    kind = given if isinstance(given, type) else type(given)
    is_class = kind is given and issubclass(
        kind, ScalarFunction | TableFunction | AggregateFunction | TableAggregateFunction
    )
    if is_class and inspect.isabstract(given):
        missing = " and ".join(sorted(given.__abstractmethods__))
        raise FunctionError(f"function {name}: {given.__qualname__} has no method {missing}")
    if issubclass(kind, AggregateFunction):
        return define_aggregate(given, name=name)
    if issubclass(kind, TableAggregateFunction):
        return define_table_aggregate(given, name=name)
    if issubclass(kind, TableFunction):
        return define_table(given, name=name)
    if is_class or (callable(given) and not isinstance(given, type)):
        return define(given, name=name)
    raise FunctionError(
        f"function {name}: {given!r} is no function",
        hint="Give a function with type hints, what udf, udtf or udaf give, a ScalarFunction, a TableFunction or an "
        "AggregateFunction.",
    )


def load(class_name: str, name: str) -> Definition:
    """The function that ``module:name`` names; FunctionError if it cannot be imported or is no function.

    ClassNotAllowedError if nobody has allowed its module.
    """
    module_name, _, path = class_name.partition(":") if ":" in class_name else class_name.rpartition(".")
    if not module_name or not path:
        raise FunctionError(
            f"function {name}: {class_name!r} names no Python function",
            hint="Write 'module:name' or 'package.module:Class'.",
        )
    consent.require(module_name, f"function {name}")
    try:
        found: Any = importlib.import_module(module_name)
    except ImportError as error:
        raise FunctionError(
            f"function {name}: module {module_name!r} cannot be imported: {error}",
            hint=_find_hidden_module(module_name) or "Put the folder of the module on PYTHONPATH.",
        ) from error
    for part in path.split("."):
        if not hasattr(found, part):
            raise FunctionError(
                f"function {name}: module {module_name!r} has no {path!r}",
                hint=_find_hidden_module(module_name),
            )
        found = getattr(found, part)
    return definition_of(found, name)


def _find_hidden_module(module: str) -> str | None:
    """What to do where another module of that name was there before the one that the path leads to; None if none was.

    Rekindle's own packages are always there before.
    """
    top = module.partition(".")[0]
    spec, loaded = PathFinder.find_spec(top), getattr(sys.modules.get(top), "__file__", None)
    if spec is None or not spec.has_location or spec.origin is None or loaded is None:
        return None
    same = os.path.realpath(spec.origin) == os.path.realpath(loaded)
    return None if same else f"Rename {spec.origin}: {loaded} is loaded under the name {top!r}."
