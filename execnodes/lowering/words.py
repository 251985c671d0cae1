"""Words in texts of Spark SQL that stand for something; in constants and quoted names they are data, and stay."""

from __future__ import annotations

import re
from functools import lru_cache

_DATA = r"'(?:[^'\\]|\\.)*'|`(?:[^`]|``)*`"


def mentions(text: str, word: str) -> bool:
    """Whether a word stands in a text, or begins one that does."""
    return word in text and any(found[1] for found in _word(word).finditer(text))


def with_word(text: str, word: str, by: str) -> str:
    """A text with another one in place of a word."""
    return _replaced(text, word, rf"\b{word}\b", by)


def with_part(text: str, part: str, by: str) -> str:
    """A text with another one in place of a part of it."""
    return _replaced(text, part, re.escape(part), by)


def _replaced(text: str, sought: str, pattern: str, by: str) -> str:
    if sought not in text:
        return text
    return _outside_data(pattern).sub(lambda found: by if found[1] else found[0], text)


def calls_one_of(text: str, names: tuple[str, ...]) -> bool:
    """Whether a text calls a function of one of these names, which are patterns."""
    return any(found[1] for found in _word(rf"(?:{'|'.join(names)})\s*\(").finditer(text))


def _word(pattern: str) -> re.Pattern[str]:
    return _outside_data(rf"\b{pattern}")


@lru_cache(maxsize=16)
def _outside_data(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"{_DATA}|({pattern})", re.DOTALL)
