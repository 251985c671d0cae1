"""sqlglot's parser as a cursor: look ahead, accept, expect, and say at its place what was expected."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn, TypeVar

from sqlglot import exp, parser
from sqlglot.tokenizer_core import Token
from sqlglot.tokenizer_core import TokenType as T

from execnodes.core.errors import Position, SqlError
from planner.sql.foreign import instead
from planner.sql.literals import unescape_backslashes, unescaped
from planner.sql.source import Source
from planner.sql.words import RESERVED

Member = TypeVar("Member")
Node = TypeVar("Node", bound=exp.Expr)
Parse = Callable[[], exp.Expr | None]

END = Token(T.SENTINEL, "")
"""Stands behind the last token."""
TEXTS = frozenset({T.STRING, T.UNICODE_STRING, T.BYTE_STRING, T.NATIONAL_STRING})
"""Texts in single quotes: plain ones, U&'…', E'…' and N'…'."""
VALUES = frozenset({*TEXTS, T.HEX_STRING, T.NUMBER, T.IDENTIFIER})
"""Tokens whose text is no keyword or mark."""
NAMES = frozenset(
    {T.VAR, T.IDENTIFIER, T.FILTER, T.FIRST, T.NEXT, T.ORDINALITY, T.OVERLAPS, T.RANGE, T.ROLLUP, T.CUBE, T.ROWS,
     T.ESCAPE, T.ASC, T.DESC, T.CURRENT_DATE, T.CURRENT_TIME, T.CURRENT_TIMESTAMP, T.LOCALTIME, T.LOCALTIMESTAMP}
)  # fmt: skip
"""Tokens that may be names; a plain word is none where it is reserved."""
_PAIRED = frozenset({T.GROUP_BY, T.ORDER_BY, T.PARTITION_BY, T.SIMILAR_TO, T.GROUPING_SETS})
_MOST_DIGITS = 18
MOST_NESTED = 100
"""Levels of parentheses, brackets and CASE in one statement, and of types in one another."""


def too_deep(position: Position | None = None) -> SqlError:
    """What nests deeper than the compiler goes."""
    hint = "Name parts of it: a view, WITH, or a computed column of a subquery."
    return SqlError(f"nested deeper than {MOST_NESTED} levels", position=position, hint=hint)


_OPENING = frozenset({T.L_PAREN, T.L_BRACKET, T.CASE})
_CLOSING = frozenset({T.R_PAREN, T.R_BRACKET, T.END})


_ITEMS = frozenset({T.VAR, T.IDENTIFIER, T.STRING, T.NUMBER})
"""Of items of a list: names, texts, numbers."""


class Cursor(parser.Parser):
    """A place among the tokens of one script."""

    source: Source
    is_stored = False
    """Whether the text is that of a view or a column, which a release that was less strict may have accepted."""

    def begin(self, source: Source, found: list[Token], *, is_stored: bool = False) -> None:
        """Stand before the first token."""
        self.reset()
        self.is_stored = is_stored
        self.source, self.sql = source, source.text
        self._check_depth(found)
        self._chunks = [found]
        self._advance_chunk()

    def _check_depth(self, found: list[Token]) -> None:
        depth = 0
        for token in found:
            kind = token.token_type
            if kind in _OPENING:
                depth += 1
                if depth > MOST_NESTED:
                    raise too_deep(self.source.position(token.start))
            elif kind in _CLOSING:
                depth -= 1
            elif kind is T.SEMICOLON:
                depth = 0

    # What sqlglot's own methods call.

    def raise_error(self, message: str, token: Token = END) -> NoReturn:
        """SqlError for what sqlglot misses; it raises nothing else."""
        if message.startswith("Required argument"):
            raise self.no_expression()
        raise self.error(message.replace("Expecting", "expected").replace("Expected", "expected"))

    def expression(self, instance: Node, token: Token | None = None, comments: list[str] | None = None) -> Node:
        """Keep a node that has been read, with its place: the token's, else its first part's. Comments are dropped."""
        if token is not None:
            instance.meta["start"] = token.start
        else:
            for value in instance.args.values():
                first = value[0] if isinstance(value, list) and value else value
                if isinstance(first, exp.Expr) and first.meta_get("start") is not None:
                    instance.meta["start"] = first.meta["start"]
                    break
        return instance if instance.is_primitive else self.validate_expression(instance)

    def _parse_csv(self, parse_method: Callable[[], Member | None], sep: T = T.COMMA) -> list[Member]:
        """One or more; sqlglot takes ``a, , b,`` and nothing at all."""
        found: list[Member] = []
        while True:
            member = parse_method()
            if member is None:
                raise self.no_expression()
            found.append(member)
            if not self._match(sep):
                return found

    def _parse_id_var(self, any_token: bool = True, tokens: object = None) -> exp.Identifier | None:
        token = self._curr
        if not self.at_name():
            return None
        self._advance()
        return self.expression(exp.Identifier(this=token.text, quoted=token.token_type is T.IDENTIFIER), token)

    # Looking.

    @property
    def token(self) -> Token:
        """The next token."""
        return self._curr

    @property
    def ended(self) -> bool:
        """True behind the last token."""
        return not self._curr

    @property
    def offset(self) -> int:
        """Where the next token begins."""
        return self._curr.start if self._curr else len(self.source.text)

    @property
    def end(self) -> int:
        """Where the last token ended."""
        return self._prev.end + 1 if self._index else 0

    @property
    def here(self) -> Position:
        """Line and column of the next token."""
        return self.source.position(self.offset)

    @property
    def place(self) -> int:
        """Number of the next token."""
        return self._index

    def text_since(self, place: int) -> str:
        """The text from a token to the last one taken; what is between tokens is one space, or nothing as written."""
        found = ""
        for at in range(place, self._index):
            token = self._tokens[at]
            apart = at > place and token.start > self._tokens[at - 1].end + 1
            found += " " * apart + self.source.text[token.start : token.end + 1]
        return found

    def ahead(self, offset: int) -> Token:
        """A later token, or an earlier one."""
        at = self._index + offset
        return self._tokens[at] if 0 <= at < len(self._tokens) else END

    def at(self, *words: str) -> bool:
        """True when these keywords or marks come next."""
        for offset, word in enumerate(words):
            token = self.ahead(offset) if offset else self._curr
            if token.text.upper() != word or token.token_type in VALUES:
                return False
        return True

    def at_any(self, *words: str) -> bool:
        """True when one of these keywords or marks comes next."""
        return self._curr.text.upper() in words and self._curr.token_type not in VALUES

    def at_name(self) -> bool:
        """True at a name: a plain word that is not reserved, or any text in backticks."""
        kind = self._curr.token_type
        return kind in NAMES and (kind is not T.VAR or self._curr.text.upper() not in RESERVED)

    def at_word(self) -> bool:
        """True at a keyword or a plain name."""
        return bool(self._curr) and self._curr.token_type not in VALUES and self._curr.text[:1].isalpha()

    def at_text(self, offset: int = 0) -> bool:
        """True at a text in single quotes."""
        return self.ahead(offset).token_type in TEXTS

    # Taking.

    def take(self) -> Token:
        """Take the next token."""
        token = self._curr
        if token:
            self._advance()
        return token

    def accept(self, *words: str) -> bool:
        """Take these keywords or marks if they come next."""
        if not self.at(*words):
            return False
        self._advance(len(words))
        return True

    def expect(self, *words: str) -> None:
        """Take these keywords or marks; SqlError if something else comes."""
        for word in words:
            if not self.accept(word):
                raise self.error(f"expected {word}", self._opened() if word == ")" else None)

    def one(self, parse: Parse | None = None) -> exp.Expr:
        """An expression; SqlError if there is none."""
        found = (parse or self._parse_disjunction)()
        if found is None:
            raise self.no_expression()
        return found

    def name_node(self, what: str = "a name") -> exp.Identifier:
        """An identifier, quoted or not; SqlError where there is none, or a reserved word."""
        found = self._parse_id_var()
        if found is None:
            raise self.error(f"expected {what}", self._reserved())
        return found

    def identifier(self, what: str = "a name") -> str:
        """A name's text."""
        return self.name_node(what).name

    def path(self, what: str = "a name") -> tuple[str, ...]:
        """A dotted name."""
        parts = [self.identifier(what)]
        while self._match(T.DOT):
            parts.append(self.identifier(what))
        return tuple(parts)

    def text(self, what: str) -> str:
        """A text in single quotes."""
        if not self.at_text():
            raise self.error(f"expected {what} in single quotes")
        position, token = self.here, self.take()
        if token.token_type is T.BYTE_STRING:
            return unescape_backslashes(self.source.text[token.start + 2 : token.end], position)
        if token.token_type is not T.UNICODE_STRING:
            return token.text
        return unescaped(token.text, position, self._take_escape())

    def _take_escape(self) -> str:
        """``UESCAPE 'c'``; else a backslash."""
        if not self.accept("UESCAPE"):
            return "\\"
        position, escape = self.here, self.take().text
        if len(escape) != 1 or escape.isalnum() or escape in "+'\" ":
            raise SqlError("UESCAPE requires one character, not a letter or digit", position=position)
        return escape

    def whole_number(self, what: str) -> int:
        """An unsigned whole number."""
        if self._curr.token_type is not T.NUMBER or not self._curr.text.isdigit():
            raise self.error(f"expected {what}, a whole number")
        if len(self._curr.text) > _MOST_DIGITS:
            raise SqlError(f"{self._curr.text[:_MOST_DIGITS]}… is too large", position=self.here)
        return int(self.take().text)

    def listed(self, parse: Callable[[], Member]) -> tuple[Member, ...]:
        """One or more, with commas between."""
        found = [parse()]
        while self._match(T.COMMA):
            found.append(parse())
        return tuple(found)

    def parenthesised(self, parse: Callable[[], Member]) -> tuple[Member, ...]:
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

    # Refusing.

    def deeper(self, depth: int) -> int:
        """One level more; SqlError beyond the most there may be."""
        if depth >= MOST_NESTED:
            raise too_deep(self.here)
        return depth + 1

    def error(self, expected: str, hint: str | None = None) -> SqlError:
        """An error about the next token, or about what it begins in another system's SQL."""
        return instead(self._tokens, self._index, self.source) or SqlError(
            f"{expected}, found {self.shown()}",
            position=self.here,
            hint=" ".join(filter(None, [self._missing_comma(), hint])) or None,
        )

    def _missing_comma(self) -> str | None:
        """A guess, where what ends an item of a list and what begins one stand side by side."""
        around = self._tokens[max(self._index - 2, 0) : self._index + 1]
        if self._index >= len(self._tokens):
            return None
        if around[-1].token_type in (T.DOT, T.L_PAREN):
            # `a t.b` and `a f(b)` are read up to the names, as aliases.
            around.pop()
        *before, item = around
        ends = bool(before) and before[-1].token_type in _ITEMS | {T.R_PAREN}
        return f"Is a comma missing before {self._text_of(item)}?" if ends and item.token_type in _ITEMS else None

    def _opened(self) -> str | None:
        """Where the parenthesis stands that is open here."""
        depth = 0
        for token in reversed(self._tokens[: self._index]):
            if token.token_type is T.R_PAREN:
                depth += 1
            elif token.token_type is T.L_PAREN:
                depth -= 1
                if depth < 0:
                    place = self.source.position(token.start)
                    return f"It closes the parenthesis of line {place.line}, column {place.column}."
        return None

    def not_flinks(self, what: str, hint: str, token: Token | None = None) -> None:
        """Refuse what Flink's parser does not take, at the next token or an earlier one; a stored text may have it."""
        if not self.is_stored:
            position = self.source.position(token.start) if token is not None else self.here
            raise SqlError(f"{what} is not Flink's SQL", position=position, hint=hint)

    def no_expression(self) -> SqlError:
        """There is no expression at the next token."""
        return self.error("expected an expression", self._reserved())

    def _reserved(self) -> str | None:
        if self._prev.token_type is T.COMMA:
            return "Leave out the comma in front of it."
        word = self.shown()
        plain = self._curr.token_type not in VALUES and word.upper() in RESERVED
        return f"{word} is reserved; as a name write it in backticks." if plain else None

    def shown(self) -> str:
        """The next token as an error shows it."""
        if not self._curr:
            return "the end of the text"
        return self._text_of(self._curr)

    def _text_of(self, token: Token) -> str:
        text = self.source.text[token.start : token.end + 1]
        return text.split()[0] if token.token_type in _PAIRED else text

    def unsupported(self, what: str, instead: str, position: Position | None = None) -> SqlError:
        """An error for SQL that is understood but not supported."""
        return SqlError(f"{what} is not supported", position=position or self.here, hint=instead)
