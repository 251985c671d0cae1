"""In a worker: calls of a function that waits, for several rows at a time."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Any

from execnodes.core.async_options import AsyncOptions
from execnodes.core.errors import JobError
from execnodes.core.words import counted
from execnodes.user_functions.shipping import line, shown

Row = Sequence[Any]
_here = threading.local()


def awaited(
    name: str, function: Callable[..., Awaitable[Any]], rows: Iterable[Row], options: AsyncOptions
) -> list[Any]:
    """The values, in the order of the rows; JobError for the first row that fails after all attempts."""
    try:
        return _loop().run_until_complete(_all(name, function, list(rows), options))
    except BaseExceptionGroup as group:
        raise _first(group) from None


def _loop() -> asyncio.AbstractEventLoop:
    """One for the life of the thread: what a function has opened on it stays open."""
    if not hasattr(_here, "loop"):
        _here.loop = asyncio.new_event_loop()
    found: asyncio.AbstractEventLoop = _here.loop
    return found


async def _all(
    name: str, function: Callable[..., Awaitable[Any]], rows: Sequence[Row], options: AsyncOptions
) -> list[Any]:
    values: list[Any] = [None] * len(rows)
    left = iter(enumerate(rows))

    async def work() -> None:
        for at, row in left:
            values[at] = await _value(name, function, row, options)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(options.concurrent, len(rows))):
            group.create_task(work())
    return values


async def _value(name: str, function: Callable[..., Awaitable[Any]], row: Row, options: AsyncOptions) -> Any:
    bound = asyncio.timeout(options.timeout / 1000 if options.timeout else None)
    try:
        async with bound:
            return await _tried(name, function, row, options)
    except TimeoutError as error:
        raise JobError(
            f"function {name} failed for {shown(row)}: it took longer than {options.timeout} ms",
            hint="Raise table.exec.async-scalar.timeout when the statement is compiled.",
        ) from error


async def _tried(name: str, function: Callable[..., Awaitable[Any]], row: Row, options: AsyncOptions) -> Any:
    """The value; a timeout that is the function's own is a failure like others."""
    for attempt in range(options.retries + 1):
        try:
            return await function(*row)
        except asyncio.CancelledError as error:
            if _is_cancelled():
                raise
            raise JobError(f"function {name} failed for {shown(row)}: it has cancelled itself") from error
        except Exception as error:
            # What a function makes of being told to end is not tried again.
            if attempt == options.retries or _is_cancelled():
                times = f" (after {counted(attempt + 1, 'attempt')})" if attempt else ""
                raise JobError(f"function {name} failed for {shown(row)}: {line(error)}{times}") from error
        await asyncio.sleep(options.delay / 1000)
    raise AssertionError("there is always a first attempt")


def _is_cancelled() -> bool:
    """By us: because of the time, or because another row has failed."""
    task = asyncio.current_task()
    return task is None or task.cancelling() > 0


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    found: BaseException = group
    while isinstance(found, BaseExceptionGroup):
        found = found.exceptions[0]
    return found
