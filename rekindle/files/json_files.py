"""JSON files of ours, read strictly: what is not as it was written is told by its place, never guessed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from execnodes.core.errors import JobError

T = TypeVar("T")
Millis = Annotated[int, Field(ge=0, le=253_402_300_799_000)]
"""Epoch milliseconds of the years 1970 to 9999."""
Count = Annotated[int, Field(ge=0, lt=2**63)]
Id = Annotated[str, Field(pattern=r"^[0-9a-f]{32}$")]
"""Of a job, or a request; it becomes a part of file names."""


def read_json(path: Path, kind: TypeAdapter[T], *, hint: str) -> T | None:
    """The content of a file; None if there is no such file. JobError if it cannot be read, or is something else."""
    try:
        if path.exists() and not path.is_file():
            raise JobError("this is no file", where=str(path), hint=hint)
        return parsed(path.read_bytes(), kind, str(path), hint=hint)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise JobError(f"the file cannot be read: {error.strerror}", where=str(path), hint=hint) from error


def parsed(text: str | bytes, kind: TypeAdapter[T], where: str, *, hint: str) -> T:
    """JSON as what it should be; JobError with the first thing that it is not."""
    try:
        return kind.validate_json(text, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        place = ".".join(map(str, first["loc"]))
        said = f"{place}: {first['msg']}" if place else first["msg"]
        raise JobError(f"the file cannot be read: {said}", where=where, hint=hint) from error


def read_text(path: Path, *, hint: str) -> str:
    """A text file; JobError if it cannot be read."""
    try:
        if path.exists() and not path.is_file():
            raise JobError("this is no file", where=str(path), hint=hint)
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise JobError(f"the file cannot be read: {error.strerror}", where=str(path), hint=hint) from error
    except UnicodeDecodeError as error:
        raise JobError(f"the file is no UTF-8: {error.reason}", where=str(path), hint=hint) from error
