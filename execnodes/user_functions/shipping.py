"""Functions of the user on their way to Python workers, and what they say when they fail there."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from execnodes.core.errors import FunctionError, JobError
from execnodes.user_functions.running import open_while_running
from execnodes.user_functions.user_defined_function import FunctionContext, UserDefinedFunction

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
    closes: bool = False
    """It has a `close`."""
    parameters: tuple[tuple[str, str], ...] = ()
    """Those of the job."""

    def with_parameters(self, parameters: Mapping[str, str]) -> Shipped:
        """The same in a job with these parameters."""
        return replace(self, parameters=tuple(sorted(parameters.items())))


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
    closes = isinstance(function, UserDefinedFunction) and type(function).close is not UserDefinedFunction.close
    return Shipped(name, payload, tuple(sys.path), closes)


def opened(shipped: Shipped) -> tuple[Any, ...]:
    """In a worker: the function, opened, and what belongs to it; one that has a `close` only while it is running."""
    return open_while_running(shipped, lambda: _open(shipped)) if shipped.closes else _open_once(shipped)


@lru_cache(maxsize=256)
def _open_once(shipped: Shipped) -> tuple[Any, ...]:
    return _open(shipped)


def _open(shipped: Shipped) -> tuple[Any, ...]:
    known = set(sys.path)
    sys.path.extend(each for each in shipped.paths if each not in known)
    function, *more = pickle.loads(shipped.payload)
    if isinstance(function, UserDefinedFunction):
        try:
            function.open(FunctionContext(shipped.name, dict(shipped.parameters)))
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
