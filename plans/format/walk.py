"""One walk through the typed tree of a node, for all that look for something in it: columns, calls, places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TypeVar

from pydantic import BaseModel

from execnodes.core.expressions import Literal

C = TypeVar("C")
Path = tuple["Path", str | int] | None
"""Where a value stands: in what, and under which property (its name in JSON) or number there; None at the top."""


def walk(
    root: object, context: C, into: Callable[[BaseModel, str, C], C | None], path: Path = None
) -> Iterator[tuple[Path, object, C]]:
    """Every value from the top down, in the order of a plan, each with its path and its context; without recursion.

    `into(model, name, context)`: the context of what a field holds, None to pass it by. Nothing stands in a literal,
    and maps hold no models.
    """
    stack = [(path, root, context)]
    while stack:
        path, value, within = stack.pop()
        yield path, value, within
        if isinstance(value, tuple):
            stack += [((path, at), value[at], within) for at in range(len(value) - 1, -1, -1)]
        elif isinstance(value, BaseModel) and not isinstance(value, Literal):
            for name, alias in _fields(type(value)):
                inner = into(value, name, within)
                if inner is not None:
                    stack.append(((path, alias), getattr(value, name), inner))


def everywhere(model: BaseModel, name: str, context: bool) -> bool:
    """For `walk`: into every field, with nothing to carry along."""
    return True


def dotted(path: Path) -> str:
    """For people: ``projection[0].operands``."""
    return "".join(f"[{each}]" if isinstance(each, int) else f".{each}" for each in _steps(path)).removeprefix(".")


def pointer(path: Path) -> str:
    """As plans hold it: ``/projection/0/operands``."""
    return "".join(f"/{each}" for each in _steps(path))


def _steps(path: Path) -> list[str | int]:
    steps = list[str | int]()
    while path is not None:
        path, step = path
        steps.append(step)
    steps.reverse()
    return steps


@cache
def _fields(model: type[BaseModel]) -> tuple[tuple[str, str], ...]:
    """Names and names in JSON, last first."""
    return tuple((name, field.alias or name) for name, field in reversed(model.model_fields.items()))
