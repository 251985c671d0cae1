"""What the classes of all kinds of functions have in common: they are opened, and may be closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class FunctionContext:
    """What a function is told when it is opened."""

    name: str
    """By which SQL knows it."""
    parameters: Mapping[str, str] = field(default_factory=dict)
    """Of the job: `pipeline.global-job-parameters`."""

    def get_job_parameter(self, key: str, default_value: Any) -> Any:
        """A parameter of the job, as text; the default without it."""
        return self.parameters.get(key, default_value)


class UserDefinedFunction:
    """A function that is opened in a Python worker before it is called there.

    It is kept as long as the worker, of whose end it is not told. One that has a `close` is made anew for the rows
    that a task gives it at a time, opened before and closed behind them.
    """

    def open(self, context: FunctionContext) -> None:
        """Load what the other methods need; called once before them."""

    def close(self) -> None:
        """Give back what `open` has taken; called behind the last row, also if one has failed."""
