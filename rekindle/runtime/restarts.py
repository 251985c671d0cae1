"""Whether, and when, a job that has failed for a passing reason starts again: Flink's restart strategies."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from execnodes.core.errors import OptionError
from execnodes.core.options import Configuration

_PREFIX = "restart-strategy"


class Strategy(Protocol):
    """Asked after each failure that may pass."""

    def delay(self) -> float | None:
        """Seconds to wait before the job starts again; None if it does not."""
        ...


class NoRestart:
    """The first failure is the end."""

    def delay(self) -> None:
        """Never."""


@dataclass
class FixedDelay:
    """Some attempts, always the same time apart."""

    attempts: int
    seconds: float
    _made: int = 0

    def delay(self) -> float | None:
        """None after the last attempt."""
        self._made += 1
        return self.seconds if self._made <= self.attempts else None


@dataclass
class ExponentialDelay:
    """Waits longer from failure to failure, and begins anew once the job has run without one for some time."""

    initial: float
    longest: float
    multiplier: float
    threshold: float
    """Seconds without a failure after which it begins anew."""
    jitter: float
    """Part of the delay that is added or taken by chance, so that jobs do not start all at once."""
    attempts: int
    """Most of them before it begins anew."""
    clock: Callable[[], float] = time.monotonic
    chance: Callable[[], float] = field(default_factory=lambda: random.Random().random)
    _made: int = 0
    _next: float = 0.0
    _until: float = 0.0
    """When the job was last started, at the latest."""

    def delay(self) -> float | None:
        """None after the last attempt."""
        now = self.clock()
        if self._made == 0 or now - self._until >= self.threshold:
            self._made, self._next = 0, self.initial
        self._made += 1
        if self._made > self.attempts:
            return None
        seconds = min(self._next, self.longest)
        self._next = min(self._next * self.multiplier, self.longest)
        self._until = now + seconds
        return max(0.0, seconds * (1 + self.jitter * (2 * self.chance() - 1)))


def strategy_of(configuration: Configuration) -> Strategy:
    """The strategy that the options of a job name; OptionError for values that make none."""
    kind = configuration.get_option(f"{_PREFIX}.type")
    if kind in ("none", "off", "disable"):
        return NoRestart()

    def seconds(name: str) -> float:
        return configuration.millis(f"{_PREFIX}.{kind}.{name}") / 1000

    def count(name: str) -> int:
        return max(0, configuration.number(f"{_PREFIX}.{kind}.{name}"))

    if kind == "fixed-delay":
        return FixedDelay(count("attempts"), seconds("delay"))
    return ExponentialDelay(
        seconds("initial-backoff"),
        seconds("max-backoff"),
        _fraction(configuration, f"{_PREFIX}.{kind}.backoff-multiplier", 1.0),
        seconds("reset-backoff-threshold"),
        _fraction(configuration, f"{_PREFIX}.{kind}.jitter-factor", 0.0),
        count("attempts-before-reset-backoff"),
    )


def _fraction(configuration: Configuration, key: str, least: float) -> float:
    text = configuration.get_option(key)
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not least <= value <= 1000:
        raise OptionError(f"{key}: {text!r} is not a value of this option", hint=f"Write a number from {least:g} on.")
    return value
