"""Turns validation errors into sentences about the JSON a person sees."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from pydantic_core import ErrorDetails

_MOST = 5
_LONGEST = 160


def describe_errors(error: ValidationError, raw: Mapping[str, Any]) -> str:
    """All problems of one JSON object `raw` in one line; the first five when there are more."""
    errors = error.errors(include_url=False, include_context=True)
    sentences = [_describe(each, raw) for each in errors[:_MOST]]
    if len(errors) > _MOST:
        sentences.append(f"and {len(errors) - _MOST} more")
    return "; ".join(sentences)


def _describe(error: ErrorDetails, raw: Mapping[str, Any]) -> str:
    path = _path(error, raw)
    if error["type"] == "missing":
        return f"property {path} is missing"
    if error["type"] == "extra_forbidden":
        camel = _camel(error)
        return f"property {path} is unknown{f' (is it {camel!r}?)' if camel else ''}"
    if error["type"] == "value_error":
        return f"property {path}: {error['ctx']['error']}"
    message = error["msg"].replace("valid tuple", "list").replace("dictionary", "object")
    return f"property {path}: {message[0].lower()}{message[1:]}{_given(error)}"


def _path(error: ErrorDetails, raw: Mapping[str, Any]) -> str:
    """The place, as ``projection[0].operands[1].type``.

    Pydantic's locations also name the members of unions, which are no properties: what is not in the JSON is skipped.
    """
    text = ""
    here: object = raw
    last = len(error["loc"]) - 1
    for at, part in enumerate(error["loc"]):
        if isinstance(part, int) and isinstance(here, list | tuple):
            text, here = f"{text}[{part}]", here[part] if part < len(here) else None
        elif isinstance(here, Mapping) and part in here:
            text, here = _joined(text, part), here[part]
        elif at == last and error["type"] == "missing":
            text = _joined(text, part)
    return _short(text) or "(top level)"


def _short(path: str) -> str:
    """A path without its middle, if it is that of something nested deeply."""
    return path if len(path) <= _LONGEST else f"{path[: _LONGEST // 2]}…{path[-_LONGEST // 2 :]}"


def _joined(text: str, part: object) -> str:
    return f"{text}.{part}" if text else str(part)


def _camel(error: ErrorDetails) -> str | None:
    """The camelCase spelling of a property that was written in snake_case, the commonest slip of a hand."""
    head, *rest = str(error["loc"][-1]).split("_")
    return head + "".join(part.capitalize() for part in rest) if rest else None


def _given(error: ErrorDetails) -> str:
    given = error["input"]
    if error["type"] in ("value_error", "assertion_error") or isinstance(given, Mapping | tuple | list):
        return ""
    return f", not {given!r}"
