"""Finds functions by name and version by walking the modules of this package; nothing registers itself."""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from functools import cache

from execnodes.core.errors import PlanError
from execnodes.core.version import ENGINE_VERSION, version_tuple
from execnodes.functions.function import Function


@cache
def functions() -> dict[tuple[str, int], Function]:
    """Every function there is, by name and version; ValueError if two modules define the same."""
    package = importlib.import_module(__package__)
    found: dict[tuple[str, int], Function] = {}
    for module in pkgutil.iter_modules(package.__path__, prefix=f"{package.__name__}."):
        for value in vars(importlib.import_module(module.name)).values():
            for each in value if isinstance(value, tuple) else (value,):
                if not isinstance(each, Function):
                    continue
                known = found.setdefault((each.name, each.version), each)
                if known is not each:
                    raise ValueError(f"function {each.internal_name} is defined twice")
    return found


@cache
def newest(name: str, engine_version: str = ENGINE_VERSION) -> Function | None:
    """The version of a function that an engine version means by its bare name."""
    limit = version_tuple(engine_version)
    known = [f for f in functions().values() if f.name == name and version_tuple(f.since) <= limit]
    return max(known, key=lambda f: f.version, default=None)


def close_matches(name: str) -> list[str]:
    """Names of functions that look like `name`."""
    return difflib.get_close_matches(name, {f.name for f in functions().values()}, n=3)


@cache
def find(internal_name: str, engine_version: str = ENGINE_VERSION) -> Function:
    """The function of ``$NAME$VERSION`` or ``$NAME`` (then the version of `engine_version`); PlanError if none."""
    name, _, version = internal_name.removeprefix("$").rpartition("$")
    if name and version.isdigit():
        found = functions().get((name, int(version)))
    else:
        found = newest(internal_name.removeprefix("$"), engine_version)
    if found is None:
        raise PlanError(
            f"unknown function {internal_name}",
            hint="Run the plan with an engine that has the function, or compile the statement again.",
        )
    return found
