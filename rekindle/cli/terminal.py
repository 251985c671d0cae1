"""What commands print is plain text: nothing that comes from a plan, a savepoint or a row steers a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from io import TextIOWrapper
from typing import ParamSpec, TextIO, TypeVar

from execnodes.core.words import plain

P = ParamSpec("P")
R = TypeVar("R")


class PlainOutput(TextIOWrapper):
    """A standard stream that writes `plain` text; `behind` is the stream itself, for what has colours of its own."""

    def __init__(self, behind: TextIOWrapper) -> None:
        super().__init__(
            behind.buffer,
            behind.encoding,
            behind.errors,
            newline="",
            line_buffering=behind.line_buffering,
            write_through=behind.write_through,
        )
        self.behind = behind

    def write(self, text: str) -> int:
        """Write the text, with escapes."""
        super().write(plain(text))
        return len(text)

    def close(self) -> None:
        """Only flush: what is below belongs to `behind`."""
        self.flush()


def plainly(command: Callable[P, R]) -> Callable[P, R]:
    """The command with plain standard streams, from its start to the end of the process."""

    @wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        plain_streams()
        return command(*args, **kwargs)

    return run


def plain_streams() -> None:
    """Standard output and errors are plain from now on."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if isinstance(stream, TextIOWrapper) and not isinstance(stream, PlainOutput):
            stream.flush()
            setattr(sys, name, PlainOutput(stream))


def coloured(stream: TextIO) -> TextIO:
    """The stream for a display that makes its own colours, of text that is plain already."""
    return stream.behind if isinstance(stream, PlainOutput) else stream
