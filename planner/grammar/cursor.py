"""Walks over tokens: look ahead, accept, expect, and say what was expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from execnodes.core.errors import Position, SqlError
from planner.grammar.lexer import Kind, Source, Token

T = TypeVar("T")

RESERVED = frozenset(
    """
    ALL AND AS ASC BETWEEN BY CASE CAST CREATE CROSS DESC DISTINCT ELSE END EXCEPT EXISTS FALSE FETCH FOR FROM FULL
    GROUP HAVING IN INNER INSERT INTERSECT INTO IS JOIN LATERAL LEFT LIKE LIMIT MATCH_RECOGNIZE MINUS NATURAL NOT NULL
    OFFSET ON OR ORDER OUTER OVER PARTITION QUALIFY RIGHT SELECT SET SIMILAR TABLE TABLESAMPLE THEN TRUE UNION UNKNOWN
    UNNEST USING VALUES WHEN WHERE WINDOW WITH
    """.split()  # noqa: SIM905
)
"""Words that begin or end a part of a statement, so that they are names only in backticks."""


class Cursor:
    """A place among the tokens of one script; it only moves forward, save for `attempt`."""

    def __init__(self, source: Source, index: int = 0) -> None:
        self.source = source
        self.tokens = source.tokens
        self.index = index

    @property
    def token(self) -> Token:
        """The next token."""
        return self.tokens[self.index]

    def ahead(self, offset: int) -> Token:
        """A later token, END beyond the last."""
        return self.tokens[min(self.index + offset, len(self.tokens) - 1)]

    @property
    def ended(self) -> bool:
        """True behind the last token."""
        return self.token.kind is Kind.END

    @property
    def here(self) -> Position:
        """Where the next token stands."""
        return self.source.position(self.token.start)

    def advance(self) -> Token:
        """Take the next token."""
        token = self.tokens[self.index]
        if token.kind is not Kind.END:
            self.index += 1
        return token

    def at(self, *words: str) -> bool:
        """True when these keywords or marks come next."""
        for offset, word in enumerate(words):
            token = self.ahead(offset)
            if token.upper != word or token.kind not in (Kind.WORD, Kind.MARK):
                return False
        return True

    def at_any(self, *words: str) -> bool:
        """True when one of these keywords or marks comes next."""
        return self.token.upper in words and self.token.kind in (Kind.WORD, Kind.MARK)

    def accept(self, *words: str) -> bool:
        """Take these keywords or marks if they come next."""
        if not self.at(*words):
            return False
        self.index += len(words)
        return True

    def expect(self, *words: str) -> None:
        """Take these keywords or marks; SqlError if something else comes."""
        for word in words:
            if not self.accept(word):
                raise self.error(f"expected {word}")

    def error(self, expected: str, hint: str | None = None) -> SqlError:
        """An error about the next token."""
        return SqlError(f"{expected}, found {self.shown()}", position=self.here, hint=hint)

    def shown(self) -> str:
        """The next token as an error shows it."""
        token = self.token
        return "the end of the text" if token.kind is Kind.END else self.source.text[token.start : token.end]

    def unsupported(self, what: str, instead: str, position: Position | None = None) -> SqlError:
        """An error for SQL that is understood but not supported."""
        return SqlError(f"{what} is not supported", position=position or self.here, hint=instead)

    def identifier(self, what: str = "a name") -> str:
        """A name: a plain word that is not reserved, or any text in backticks."""
        token = self.token
        if token.kind is Kind.WORD and token.upper in RESERVED:
            raise self.error(f"expected {what}", f"{token.text} is reserved; as a name write it in backticks.")
        if token.kind not in (Kind.WORD, Kind.NAME):
            raise self.error(f"expected {what}")
        return self.advance().text

    def path(self, what: str = "a name") -> tuple[str, ...]:
        """A dotted name."""
        parts = [self.identifier(what)]
        while self.accept("."):
            parts.append(self.identifier(what))
        return tuple(parts)

    def text(self, what: str) -> str:
        """A text in single quotes."""
        if self.token.kind is not Kind.TEXT:
            raise self.error(f"expected {what} in single quotes")
        return self.advance().text

    def whole_number(self, what: str) -> int:
        """An unsigned whole number."""
        token = self.token
        if token.kind is not Kind.NUMBER or not token.text.isdigit():
            raise self.error(f"expected {what}, a whole number")
        return int(self.advance().text)

    def listed(self, parse: Callable[[], T]) -> tuple[T, ...]:
        """One or more, with commas between."""
        found = [parse()]
        while self.accept(","):
            found.append(parse())
        return tuple(found)

    def parenthesised(self, parse: Callable[[], T]) -> tuple[T, ...]:
        """``( one, two … )``."""
        self.expect("(")
        found = self.listed(parse)
        self.expect(")")
        return found

    def options(self) -> tuple[tuple[str, str], ...]:
        """``('key' = 'value', …)``, possibly empty; a key twice is refused."""
        self.expect("(")
        if self.accept(")"):
            return ()
        found: dict[str, str] = {}
        while True:
            position = self.here
            key = self.text("an option's key")
            self.expect("=")
            value = self.text("an option's value")
            if key in found:
                raise SqlError(f"option {key!r} is given twice", position=position)
            found[key] = value
            if not self.accept(","):
                break
        self.expect(")")
        return tuple(found.items())
