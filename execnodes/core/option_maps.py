"""Options whose value is a map."""

from __future__ import annotations

import re

from execnodes.core.errors import OptionError

_ENTRY = re.compile(
    r"""\s*('(?:[^']|'')*'|"(?:[^"]|"")*"|[^:,'"]+?)\s*:\s*('(?:[^']|'')*'|"(?:[^"]|"")*"|[^:,'"]*?)\s*(?:,|$)"""
)


def parse_map(text: str, key: str) -> dict[str, str]:
    """Keys and values of a text such as ``a:1,'b:c':'2, 3'``; OptionError for anything else."""
    found: dict[str, str] = {}
    at = 0
    while at < len(text):
        entry = _ENTRY.match(text, at)
        if entry is None:
            raise OptionError(
                f"{key}: {text!r} is not a map", hint="Write e.g. 'a:1,b:2'; quote what has a , or : in it."
            )
        found[_unquoted(entry[1])] = _unquoted(entry[2])
        at = entry.end()
    return found


def _unquoted(text: str) -> str:
    mark = text[:1]
    return text[1:-1].replace(mark * 2, mark) if mark in ("'", '"') and mark else text
