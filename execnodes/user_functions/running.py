"""In a worker: while functions of the user run. Those that have a `close` live that long, all others as the worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from typing import Any

from execnodes.core.errors import JobError

_opened: ContextVar[dict[Any, tuple[Any, ...]] | None] = ContextVar("opened", default=None)


@contextmanager
def running_functions() -> Iterator[None]:
    """For rows of a task: what is opened `while_running` is closed behind them, also when they fail."""
    functions: dict[Any, tuple[Any, ...]] = {}
    token = _opened.set(functions)
    try:
        yield
    except BaseException:
        # What failed first is what is told.
        with suppress(JobError):
            _close(functions)
        raise
    else:
        _close(functions)
    finally:
        _opened.reset(token)


def _close(functions: dict[Any, tuple[Any, ...]]) -> None:
    failure: JobError | None = None
    for shipped, (function, *_) in functions.items():
        try:
            _close_one(shipped.name, function)
        except JobError as error:
            failure = failure or error
    if failure is not None:
        raise failure


def _close_one(name: str, function: Any) -> None:
    try:
        function.close()
    except Exception as error:
        what = f"{type(error).__name__}: {' '.join(str(error).split())}"
        raise JobError(f"function {name} could not be closed: {what}") from error


def is_running() -> bool:
    """Whether a function of the user is what calls."""
    return _opened.get() is not None


def open_while_running(key: Any, make: Callable[[], tuple[Any, ...]]) -> tuple[Any, ...]:
    """What was made under the key for these rows, or is made now; its first member is the function."""
    functions = _opened.get()
    if functions is None:
        return make()
    if key not in functions:
        functions[key] = make()
    return functions[key]
