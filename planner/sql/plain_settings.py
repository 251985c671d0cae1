"""SET and RESET of keys and values without quotes, whose characters need not be those of any token of SQL."""

from __future__ import annotations

import re

from sqlglot.tokenizer_core import Token
from sqlglot.tokenizer_core import TokenType as T

_APART = r"(?:\s|--[^\n]*\n|/\*(?!\+).*?\*/)"
_SETTING = re.compile(
    rf"""(?:\A|;){_APART}*+(?:
        SET{_APART}+(?P<key>[\w.\-$@]*[\w\-])\s*=\s*(?:(?P<value>[^\s';]+)|(?='))
        |RESET{_APART}+(?P<reset>[\w.\-$@]*[\w\-])\s*(?=;|\Z)
    )""",
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)
"""Flink's SetOperationParseStrategy: the key ends at a space or =, the value at a space or a semicolon."""
_QUOTED = re.compile(r"'[^']*'|`[^`]*`|--[^\n]*|/\*.*?\*/", re.DOTALL)


def find_plain_texts(text: str) -> list[tuple[int, int]]:
    """Return where keys and values without quotes begin and end in a script, in order."""
    if re.search(r"\b(?:SET|RESET)\b", text, re.IGNORECASE) is None:
        return []
    quoted = [match.span() for match in _QUOTED.finditer(text)]
    found: list[tuple[int, int]] = []
    for match in _SETTING.finditer(text):
        if any(start < match.start() < end for start, end in quoted):
            continue
        found += [match.span(group) for group in ("key", "value", "reset") if match[group] is not None]
    return found


def mask_plain_texts(text: str, spans: list[tuple[int, int]]) -> str:
    """Return the script with a name of the same length for each text without quotes."""
    for start, end in spans:
        text = text[:start] + "x" * (end - start) + text[end:]
    return text


def restore_plain_texts(tokens: list[Token], text: str, spans: list[tuple[int, int]]) -> list[Token]:
    """Return the tokens of the masked script, those names being texts again."""
    ends = dict(spans)
    return [
        Token(T.STRING, text[each.start : ends[each.start]], each.line, each.col, each.start, ends[each.start] - 1)
        if each.start in ends
        else each
        for each in tokens
    ]
