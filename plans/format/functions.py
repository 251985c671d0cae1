"""Functions in the JSON of a plan: each must exist, and one without a version means that of the plan's release."""

from __future__ import annotations

from typing import Any

from execnodes.aggregates import BY_INTERNAL_NAME, WINDOW_FUNCTIONS
from execnodes.core.errors import PlanError
from execnodes.functions.registry import find


def with_versions(value: Any, engine_version: str) -> Any:
    """JSON values with every `internalName` in full, ``$UPPER$1``; PlanError for a function that does not exist.

    Values in which nothing changes are given back as they are.
    """
    if isinstance(value, dict):
        if value.get("kind") == "LITERAL":
            return value
        changed = {key: new for key, each in value.items() if (new := _inside(each, engine_version)) is not each}
        name = value.get("internalName")
        # Maps such as table options have no type beside the name.
        if isinstance(name, str) and "type" in value:
            scalar = value.get("kind") == "CALL"
            whole = find(name, engine_version).internal_name if scalar else _aggregate(name)
            if whole != name:
                changed["internalName"] = whole
        return {**value, **changed} if changed else value
    if isinstance(value, list | tuple):
        new = type(value)(_inside(each, engine_version) for each in value)
        return value if all(a is b for a, b in zip(new, value, strict=True)) else new
    return value


def _inside(value: Any, engine_version: str) -> Any:
    return with_versions(value, engine_version) if isinstance(value, dict | list | tuple) else value


def _aggregate(internal_name: str) -> str:
    """A bare name is that of the first version, which all plans with bare names were made with."""
    name, _, version = internal_name.removeprefix("$").rpartition("$")
    if not name:
        name, version = version, "1"
    full = f"${name}${version}"
    if full not in BY_INTERNAL_NAME and not (name in WINDOW_FUNCTIONS and version == "1"):
        raise PlanError(
            f"unknown aggregate function {internal_name}",
            hint="Run the plan with an engine that has the function, or compile the statement again.",
        )
    return full
