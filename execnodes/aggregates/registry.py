"""Finds aggregate functions by walking the modules of this package; nothing registers itself."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

from execnodes.aggregates.function import AggregateFunction


def walk() -> Iterator[AggregateFunction]:
    """Every function of every family."""
    package = importlib.import_module(__package__)
    own = {"registry", "resolving", "state_columns", "spark_call", "spark_text"}
    names = (each.name for each in pkgutil.iter_modules(package.__path__) if each.name not in own)
    for name in names:
        for value in vars(importlib.import_module(f"{__package__}.{name}")).values():
            for each in value if isinstance(value, tuple) else (value,):
                if isinstance(each, AggregateFunction):
                    yield each


BY_INTERNAL_NAME = {each.internal_name: each for each in walk()}
"""Every version of every function, by its name in plans."""
FUNCTIONS = {each.name: each for each in sorted(BY_INTERNAL_NAME.values(), key=lambda function: function.version)}
"""The newest version of each function, which statements mean."""
_ALIASES = {alias: each.name for each in FUNCTIONS.values() for alias in each.aliases}
WINDOW_FUNCTIONS = frozenset({"ROW_NUMBER", "RANK", "DENSE_RANK", "PERCENT_RANK", "CUME_DIST", "LAG", "LEAD", "NTILE"})
"""Functions that are only there with OVER."""


def named(name: str) -> AggregateFunction | None:
    """The function of an SQL name, in any case; None if it is no aggregate."""
    return FUNCTIONS.get(_ALIASES.get(name.upper(), name.upper()))


def is_aggregate(name: str) -> bool:
    """True for the SQL name of an aggregate function, in any case."""
    return named(name) is not None


def function_of(internal_name: str) -> AggregateFunction:
    """The function of ``$SUM$1``."""
    return BY_INTERNAL_NAME[internal_name]


def mergeable(internal_name: str) -> bool:
    """Whether partial results can be made before the exchange (by the function alone; see `all_mergeable`)."""
    return function_of(internal_name).mergeable


def order_dependent(internal_name: str) -> bool:
    """Whether the order of rows decides the result."""
    return function_of(internal_name).order_dependent


def can_fail(internal_name: str) -> bool:
    """Whether some values fail the job."""
    return function_of(internal_name).can_fail
