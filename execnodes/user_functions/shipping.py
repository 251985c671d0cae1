"""Functions of the user on their way to Python workers, and what they say when they fail there."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from execnodes.core.errors import FunctionError, JobError
from execnodes.user_functions.aggregate import AggregateFunction
from execnodes.user_functions.scalar import FunctionContext, ScalarFunction
from execnodes.user_functions.table import TableFunction

_LONGEST = 300
"""Characters of a row's values in an error."""


@dataclass(frozen=True)
class Shipped:
    """A function as workers get it."""

    name: str
    payload: bytes
    """The function and what belongs to it, pickled."""
    paths: tuple[str, ...]
    """Where modules are found."""


def ship(name: str, function: Any, *more: Any) -> Shipped:
    """A function with what belongs to it; FunctionError if it cannot be sent."""
    from pyspark import cloudpickle

    dump: Callable[[Any], bytes] = cloudpickle.dumps
    try:
        payload = dump((function, *more))
    except (TypeError, AttributeError, ValueError, pickle.PicklingError) as error:
        raise FunctionError(
            f"function {name} cannot be sent to Python workers: {error}",
            hint="Make what it needs in the method open of a function class, which runs there.",
        ) from error
    return Shipped(name, payload, tuple(sys.path))


@lru_cache(maxsize=256)
def opened(shipped: Shipped) -> tuple[Any, ...]:
    """In a worker: the function, opened once, and what belongs to it."""
    known = set(sys.path)
    sys.path.extend(each for each in shipped.paths if each not in known)
    function, *more = pickle.loads(shipped.payload)
    if isinstance(function, ScalarFunction | TableFunction | AggregateFunction):
        try:
            function.open(FunctionContext(shipped.name))
        except Exception as error:
            raise JobError(f"function {shipped.name} could not be opened: {line(error)}") from error
    return function, *more


def failed(name: str, row: Sequence[Any], error: Exception) -> JobError:
    """The error of a function that has failed for a row."""
    return JobError(f"function {name} failed for {shown(row)}: {line(error)}")


def shown(row: Sequence[Any]) -> str:
    """Values of a row."""
    return shortened(f"({', '.join(map(repr, row))})")


def shortened(text: str) -> str:
    """A text in one line, not too long to be read."""
    text = text.replace("\n", "\\n")
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def line(error: Exception) -> str:
    """An exception in one line."""
    return f"{type(error).__name__}: {' '.join(str(error).split())}"
