"""Functions of the user that are called as objects: each is registered under a name that is made from its own."""

from __future__ import annotations

import hashlib
from functools import partial
from types import CodeType
from typing import Any

from execnodes.core.errors import FunctionError
from execnodes.user_functions.loading import Definition, definition_of
from planner.catalog.catalogs import Catalog, quoted
from planner.catalog.user_functions import UserFunction
from rekindle.api.operand import function_name

_PREFIX = "inline$"


class InlineFunctions:
    """Names of functions in a session. Plans hold them, so they are the same each time that a program runs.

    A function that is registered is called by its own name. Any other is ``inline$<name>``; a lambda has no name, so a
    digest of its code stands there. What tells two functions of one name apart is a digest of all that is in them.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    def name(self, function: object) -> str:
        """SQL of the name of a function from now on; FunctionError if it cannot be told from another."""
        for identifier, known in (*self._catalog.system_functions.items(), *self._catalog.temporary_functions.items()):
            if _is_given(known.given, function):
                return quoted(tuple(part for part in identifier if part))
        definition = definition_of(function, function_name(function))
        name = f"{_PREFIX}{_title(definition)}".lower()
        if not self._is_free(name, definition):
            if _is_known(definition.function):
                name = f"{name}${digest((_parts(definition.function), str(definition)))}"
            if not self._is_free(name, definition):
                raise FunctionError(
                    f"another function {definition.name} is called without a name of its own",
                    hint="Give this one a name: udf(f, …, name='f2').",
                )
        if self._catalog.find_function((name,)) is None:
            created = UserFunction(given=function)
            self._catalog.create_function((name,), created, temporary=True, system=True, if_not_exists=False)
        return quoted((name,))

    def _is_free(self, name: str, definition: Definition) -> bool:
        """Whether no other function has the name."""
        found = self._catalog.find_function((name,))
        return found is None or _is_same(found.definition, definition)


def _is_given(known: object, function: object) -> bool:
    """Whether what is registered is a function, or the same under an alias."""
    declared = getattr(function, "definition", None)
    return known is function or (declared is not None and getattr(known, "definition", None) is declared)


def _title(definition: Definition) -> str:
    code = getattr(definition.function, "__code__", None)
    return f"lambda${digest(_parts(code))}" if definition.name == "<lambda>" and code is not None else definition.name


def _is_same(known: Definition, other: Definition) -> bool:
    """Whether calls of one are calls of the other: one object, or the same code with the same values in it."""
    if known.function is not other.function:
        modules = {getattr(each.function, "__module__", "") for each in (known, other)}
        if len(modules) > 1 or not (_is_known(known.function) and _is_known(other.function)):
            return False
        if _parts(known.function) != _parts(other.function):
            return False
    return (known.parameters, str(known.named("")), known.deterministic) == (
        other.parameters,
        str(other.named("")),
        other.deterministic,
    )


def digest(parts: object) -> str:
    """A short text that stands for parts."""
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]


def _is_known(function: object) -> bool:
    try:
        _parts(function)
    except ValueError:
        return False
    return True


def _parts(value: Any) -> object:
    """What a value is made of, as values whose `repr` is the same in each process; ValueError if that is unknown."""
    if value is None or value is Ellipsis or isinstance(value, bool | int | float | complex | str | bytes):
        return value
    if isinstance(value, tuple | list):
        return [type(value).__name__, *map(_parts, value)]
    if isinstance(value, frozenset | set):
        return sorted(repr(_parts(each)) for each in value)
    if isinstance(value, dict):
        return [[_parts(key), _parts(each)] for key, each in value.items()]
    if isinstance(value, CodeType):
        return [value.co_code, value.co_names, value.co_varnames, _parts(value.co_consts)]
    if isinstance(value, partial):
        return [_parts(value.func), _parts(value.args), _parts(value.keywords)]
    if isinstance(value, type):
        codes = [code for each in vars(value).values() if (code := getattr(each, "__code__", None)) is not None]
        return [value.__module__, value.__qualname__, [_parts(code) for code in codes]]
    if isinstance(code := getattr(value, "__code__", None), CodeType):
        cells = [cell.cell_contents for cell in getattr(value, "__closure__", None) or ()]
        return [_parts(code), _parts(value.__defaults__), _parts(cells)]
    if "__reduce__" not in {name for each in type(value).__mro__[:-1] for name in vars(each)} and hasattr(
        value, "__dict__"
    ):
        return [_parts(type(value)), _parts(vars(value))]
    raise ValueError(f"the parts of {value!r} are not known")
