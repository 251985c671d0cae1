"""What one process asks of a job in another one, and what it answers: files of the job's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from rekindle.files.json_files import Id, read_json
from rekindle.jobs.status import State, Trouble

REQUEST = "request.json"
_HINT = "Ask again."


class Wish(TypedDict):
    """The content of request.json."""

    id: Id
    state: Literal[State.STOPPED, State.CANCELED] | None
    """How the job is to end; None for a savepoint alone."""
    savepoint: str | None
    drain: bool


class Answer(TypedDict):
    """The content of a response."""

    error: Trouble | None


_WISH, _ANSWER = TypeAdapter(Wish), TypeAdapter(Answer)


def response(folder: Path, request_id: str) -> Path:
    """The file with the answer to a request."""
    return folder / f"response-{request_id}.json"


def read_wish(folder: Path) -> Wish | None:
    """What is asked for; None if nothing is. JobError if it cannot be understood."""
    return read_json(folder / REQUEST, _WISH, hint=_HINT)


def read_answer(path: Path) -> Answer | None:
    """The answer; None before there is one."""
    return read_json(path, _ANSWER, hint=_HINT)
