"""What commands are given: scripts, and options as key=value."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from execnodes.core.errors import RekindleError, SqlError
from execnodes.core.options import Configuration


@dataclass(frozen=True)
class Script:
    """SQL text and where it came from."""

    name: str
    text: str


class InScript(Exception):
    """An error with the script that its position is a place of."""

    def __init__(self, error: RekindleError, script: Script) -> None:
        super().__init__(str(error))
        self.error = error
        self.script = script


@contextmanager
def reading(script: Script) -> Iterator[None]:
    """Errors inside are raised as `InScript`."""
    try:
        yield
    except RekindleError as error:
        raise InScript(error, script) from error


def read_script(path: Path) -> Script:
    """A script from a file, or from standard input for ``-``; SqlError if it cannot be read or is empty."""
    name = "<stdin>" if str(path) == "-" else str(path)
    try:
        return filled(Script(name, _text_of(path)))
    except FileNotFoundError:
        raise SqlError("there is no such file", where=str(path), hint="Check the path of the script.") from None
    except IsADirectoryError:
        raise SqlError("this is a folder, not a script", where=str(path), hint="Name the file in it.") from None
    except UnicodeDecodeError as error:
        raise SqlError(f"the script is not UTF-8 (byte {error.start})", where=name, hint="Save it in UTF-8.") from None
    except OSError as error:
        raise SqlError(
            f"the script cannot be read: {error.strerror}", where=str(path), hint="Check its permissions."
        ) from None


def _text_of(path: Path) -> str:
    """What a file or standard input holds, without a byte order mark; in UTF-8, whatever the locale is."""
    if str(path) != "-":
        return path.read_text(encoding="utf-8-sig")
    with io.TextIOWrapper(io.BytesIO(sys.stdin.buffer.read()), encoding="utf-8-sig") as text:
        return text.read()


def filled(script: Script) -> Script:
    """The script itself; SqlError if there is nothing in it."""
    if not script.text.strip():
        raise SqlError("the script is empty", where=script.name, hint="Write at least one statement.")
    return script


def parse_options(given: Iterable[str]) -> dict[str, str]:
    """``key=value`` texts as options; a usage error for anything else."""
    options: dict[str, str] = {}
    for text in given:
        key, sign, value = text.partition("=")
        if not sign or not key.strip():
            raise typer.BadParameter(f"{text!r} is not of the form key=value", param_hint="-D")
        options[key.strip()] = value.strip()
    return options


def configured(given: Iterable[str] | None) -> Configuration:
    """``key=value`` texts as a configuration; OptionError for unknown keys and bad values."""
    configuration = Configuration()
    for key, value in parse_options(given or []).items():
        configuration.put(key, value)
    return configuration
