"""Functions written as `async def`: how many calls wait at a time, for how long, and how often they are tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from execnodes.core.errors import OptionError
from execnodes.core.node import ExecNode
from execnodes.core.options import find, parse_duration

_PREFIX = "table.exec.async-scalar."
_CONCURRENT, _TIMEOUT, _STRATEGY, _DELAY, _ATTEMPTS = (
    _PREFIX + name for name in ("max-concurrent-operations", "timeout", "retry-strategy", "retry-delay", "max-attempts")
)
OPTIONS = (_CONCURRENT, _TIMEOUT, _STRATEGY, _DELAY, _ATTEMPTS)
"""The options that a node consumes whose functions wait."""


@dataclass(frozen=True, slots=True)
class AsyncOptions:
    """The options, read."""

    concurrent: int
    """Calls that wait at a time, in each task."""
    timeout: int
    """Milliseconds for a row, all attempts together; 0 for no bound."""
    retries: int
    """Attempts after the first, if it fails."""
    delay: int
    """Milliseconds between attempts."""

    @classmethod
    def read(cls, option: Callable[[str], str]) -> Self:
        """From what gives the text of each option; OptionError for a number that is too small."""
        concurrent, attempts = int(option(_CONCURRENT)), int(option(_ATTEMPTS))
        for key, value in ((_CONCURRENT, concurrent), (_ATTEMPTS, attempts)):
            if value < 1:
                raise OptionError(f"{key}: {value} is too small", hint="Write 1 or more.")
        retries = attempts if option(_STRATEGY) == "FIXED_DELAY" else 0
        return cls(concurrent, parse_duration(option(_TIMEOUT)), retries, parse_duration(option(_DELAY)))


def defaults() -> AsyncOptions:
    """For functions that are called elsewhere than in a node which consumes the options."""
    return AsyncOptions.read(lambda key: find(key).default)


def checked(node: ExecNode) -> AsyncOptions:
    """Those of a node that consumes the options; its PlanError for one that cannot be followed."""
    try:
        return AsyncOptions.read(node.option)
    except OptionError as error:
        raise node.fail(error.message, error.hint) from error


def options_of(node: ExecNode) -> AsyncOptions | None:
    """Those of a node; None if it consumes none."""
    return AsyncOptions.read(node.option) if _CONCURRENT in node.metadata.consumed_options else None
