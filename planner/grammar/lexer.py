"""Cuts a Flink SQL script into tokens that know where they stand."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from execnodes.core.errors import Position, SqlError


class Kind(StrEnum):
    """Kinds of token."""

    WORD = "word"
    """A keyword or a plain identifier."""
    NAME = "name"
    """An identifier in backticks."""
    TEXT = "text"
    BINARY = "binary"
    NUMBER = "number"
    MARK = "mark"
    """Punctuation and operators; ``/*+`` and ``*/`` of a hint too."""
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """A token; `text` is unquoted, `upper` serves keywords, `start` and `end` are offsets in the script."""

    kind: Kind
    text: str
    upper: str
    start: int
    end: int


class Source:
    """A script: its text and where its lines begin."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def _lines(self) -> list[int]:
        return [0, *(match.end() for match in re.finditer(r"\n", self.text))]

    def position(self, offset: int) -> Position:
        """Line and column of an offset."""
        line = bisect_right(self._lines, offset)
        return Position(line, offset - self._lines[line - 1] + 1)

    @cached_property
    def tokens(self) -> tuple[Token, ...]:
        """All tokens, an END last; SqlError for text that is none."""
        return _tokens(self)


_PATTERN = re.compile(
    r"""
    (?P<space>(?:\s+|--[^\n]*|/\*(?!\+).*?\*/)+)
  | (?P<hint>/\*\+|\*/)
  | (?P<unicode>[uU]&'(?:[^']|'')*')
  | (?P<binary>[xX]'[^']*')
  | (?P<word>[^\W\d]\w*(?:\$\w+)*)
  | (?P<number>(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)
  | (?P<text>'(?:[^']|'')*')
  | (?P<name>`(?:[^`]|``)+`)
  | (?P<mark><>|<=|>=|!=|=>|\|\||/(?!\*)|[-+*%(){}\[\],;.<>=?:|^$!])
    """,
    re.VERBOSE | re.DOTALL,
)
_OPENING = {"'": "a text that is not closed", "`": "an identifier that is not closed", '"': "double quotes"}


def _tokens(source: Source) -> tuple[Token, ...]:
    text, found, at = source.text, [], 0
    while at < len(text):
        match = _PATTERN.match(text, at)
        if match is None:
            raise _unreadable(source, at)
        kind, raw, start = match.lastgroup, match.group(), at
        at = match.end()
        if kind == "space":
            continue
        if kind == "word":
            found.append(Token(Kind.WORD, raw, raw.upper(), start, at))
        elif kind == "name":
            found.append(Token(Kind.NAME, raw[1:-1].replace("``", "`"), "", start, at))
        elif kind == "text":
            found.append(Token(Kind.TEXT, raw[1:-1].replace("''", "'"), "", start, at))
        elif kind == "unicode":
            found.append(Token(Kind.TEXT, _unescape(raw[3:-1].replace("''", "'")), "", start, at))
        elif kind == "binary":
            found.append(Token(Kind.BINARY, _hexadecimal(source, raw[2:-1], start), "", start, at))
        elif kind == "number":
            if at < len(text) and (text[at].isalpha() or text[at] == "_"):
                raise SqlError(f"a number runs into a name: {raw}{text[at]}…", position=source.position(start))
            found.append(Token(Kind.NUMBER, raw, raw, start, at))
        else:
            found.append(Token(Kind.MARK, raw, raw, start, at))
    found.append(Token(Kind.END, "", "", len(text), len(text)))
    return tuple(found)


def _unreadable(source: Source, at: int) -> SqlError:
    character = source.text[at]
    if source.text.startswith("/*", at):
        return SqlError("a comment that is not closed", position=source.position(at), hint="Close it with */.")
    hint = "Write identifiers in backticks and texts in single quotes." if character == '"' else None
    what = _OPENING.get(character, f"the character {character!r} does not belong here")
    return SqlError(what, position=source.position(at), hint=hint)


def _unescape(text: str) -> str:
    return re.sub(r"\\(?:\\|([0-9a-fA-F]{4}))", lambda m: chr(int(m[1], 16)) if m[1] else "\\", text)


def _hexadecimal(source: Source, digits: str, at: int) -> str:
    if len(digits) % 2 or not re.fullmatch(r"[0-9a-fA-F]*", digits):
        raise SqlError("a binary literal needs an even number of hexadecimal digits", position=source.position(at))
    return digits.lower()
