"""Cuts a script into tokens: sqlglot's tokenizer with Flink's vocabulary; nothing is skipped but space and comments."""

from __future__ import annotations

import re
from typing import ClassVar

from sqlglot import tokens
from sqlglot.errors import TokenError
from sqlglot.tokenizer_core import Token
from sqlglot.tokenizer_core import TokenType as T

from execnodes.core.errors import Position, SqlError
from planner.sql.cursor import NAMES
from planner.sql.foreign import BACKSLASH
from planner.sql.plain_settings import find_plain_texts, mask_plain_texts, restore_plain_texts
from planner.sql.source import Source

_WORDS = """
    ALL AND ASC BETWEEN CASE CREATE CROSS CUBE DESC DISTINCT ELSE END ESCAPE EXCEPT EXISTS FALSE FETCH FILTER FIRST FOR
    FROM FULL HAVING IN INNER INSERT INTERSECT INTO IS JOIN LATERAL LEFT LIKE LIMIT MATCH_RECOGNIZE NATURAL NEXT NOT
    NULL OFFSET ON OR ORDINALITY OUTER OVER OVERLAPS PARTITION QUALIFY RANGE RIGHT ROLLUP ROWS SELECT SET TABLE THEN
    TRUE UNION UNNEST USING VALUES WHEN WHERE WINDOW WITH
    CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP LOCALTIME LOCALTIMESTAMP
    """.split()  # noqa: SIM905
"""Keywords that sqlglot's parser looks for. There are no others, so no clause or operator of another dialect exists."""
_PAIRS = {("GROUP", "BY"): T.GROUP_BY, ("ORDER", "BY"): T.ORDER_BY, ("PARTITION", "BY"): T.PARTITION_BY,
          ("SIMILAR", "TO"): T.SIMILAR_TO, ("GROUPING", "SETS"): T.GROUPING_SETS}  # fmt: skip
"""Two words that sqlglot's parser takes for one token. GROUPING SETS is one only in front of a parenthesis."""
_SECOND = frozenset(second for _, second in _PAIRS)
FOREIGN, HINT_END = T.BLOCK_START, T.BLOCK_END
"""Characters that belong to no operator of Flink's; the end of a hint."""
_PATTERN = frozenset("{}?^!|$")
"""Marks of the patterns of MATCH_RECOGNIZE."""
_SKIPPED = re.compile(r"(?:\s+|--[^\n]*|/\*(?!\+).*?\*/)*", re.DOTALL)
_NAME = re.compile(r"[^\W\d]\w*(?:\$\w+)*")
_NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?")
_HALF_A_CHARACTER = re.compile("[\ud800-\udfff]")
"""No file has it, but a text of Python may; it could be written nowhere."""
_BINARY = re.compile(r"[xX]'(?:[0-9a-fA-F]{2})*'")
_BAD_BINARY = "a binary literal needs an even number of hexadecimal digits"
_HINTS = {"\\": BACKSLASH, "@": "There are no variables: write the value.", "&": "There are no operators on bits."}
"""What to write instead of a character that belongs to no token."""


class FlinkTokenizer(tokens.Tokenizer):
    """sqlglot's tokenizer, told Flink's words and marks."""

    KEYWORDS = {
        **{word: T[word] for word in _WORDS}, "AS": T.ALIAS, "MINUS": T.EXCEPT, "||": T.DPIPE, ">=": T.GTE, "<=": T.LTE,
        "<>": T.NEQ, "!=": T.NEQ, "=>": T.FARROW, "/*+": T.HINT, "*/": HINT_END,
    }  # fmt: skip
    SINGLE_TOKENS = {**tokens.Tokenizer.SINGLE_TOKENS, **dict.fromkeys("&{}!|\\~?@#^'\"`$", FOREIGN)}
    IDENTIFIERS = ["`"]
    HEX_STRINGS = [("x'", "'"), ("X'", "'")]
    UNICODE_STRINGS = [("u&'", "'"), ("U&'", "'")]
    BYTE_STRINGS = [("e'", "'"), ("E'", "'")]
    BYTE_STRING_ESCAPES = ["'", "\\"]
    HINT_START = ""  # else sqlglot makes comments of hints
    NESTED_COMMENTS = False
    COMMENTS_TERMINATE_AT_NEWLINE_ONLY = True
    COMMANDS: ClassVar[set[T]] = set()
    VAR_SINGLE_TOKENS = {"$"}

    def cut(self, source: Source) -> list[Token]:
        """The tokens; SqlError at the first character that belongs to none."""
        if (half := _HALF_A_CHARACTER.search(source.text)) is not None:
            raise SqlError("half a surrogate pair, which is no character", position=source.position(half.start()))
        plain = find_plain_texts(source.text)
        try:
            found = self.tokenize(mask_plain_texts(source.text, plain))
        except TokenError as error:
            begun = self._core._start
            _checked(self._core.tokens, source, begun)
            raise _unclosed(source, begun) from error
        return restore_plain_texts(_checked(found, source, len(source.text)), source.text, plain)


def _checked(found: list[Token], source: Source, end: int) -> list[Token]:
    """The tokens up to an offset, pairs of words as one; SqlError where something that is no token was skipped."""
    text, kept, at = source.text, list[Token](), 0
    for token in _split_exponents(found, source.text):
        start, kind = token.start, token.token_type
        if start > at and not (gap := text[at:start]).isspace():
            _skipped(source, at, gap)
        at = token.end + 1
        if kind is T.VAR:
            word = token.text
            if not (word.isascii() and word.isidentifier()) and not _NAME.fullmatch(word):
                whole = _NAME.match(word)
                raise _strange(source, start + (whole.end() if whole else 0))
        elif kind is T.NUMBER:
            if kept and kept[-1].token_type is T.DOT and kept[-1].end == start - 1:  # sqlglot divides .5
                start = kept.pop().start
                token = Token(T.NUMBER, text[start:at], token.line, token.col, start, at - 1)
            _number(source, start, at)
        elif kind is FOREIGN and token.text not in _PATTERN:
            raise _strange(source, start)
        elif kind is T.IDENTIFIER and "\0" in token.text:
            raise SqlError("a name with the character NUL", position=source.position(start), hint="Leave it out.")
        elif kind is T.HEX_STRING or (kind is T.IDENTIFIER and not token.text):
            _quoted(source, token)
        if kind in NAMES and kept and kept[-1].text == "$" and kept[-1].end == start - 1:
            start = kept.pop().start
            token = Token(T.VAR, text[start:at], token.line, token.col, start, at - 1)
        if kind is T.VAR and kept and (pair := _pair(kept[-1], token, text)) is not None:
            first = kept.pop()
            token = Token(pair, text[first.start : at], first.line, first.col, first.start, at - 1)
        kept.append(token)
    if end > at and not (gap := text[at:end]).isspace():
        _skipped(source, at, gap)
    return kept


def _split_exponents(found: list[Token], text: str) -> list[Token]:
    """The tokens; the E of a word right behind a number, ``2else``, is no exponent."""
    made = list[Token]()
    for token in found:
        first = made[-1] if made else None
        if first is not None and first.token_type is T.NUMBER and first.end == token.start - 1:
            word = f"{first.text[-1]}{token.text}".upper()
            kind = FlinkTokenizer.KEYWORDS.get(word)
            if first.text[-1] in "eE" and kind is not None:
                made[-1] = Token(T.NUMBER, first.text[:-1], first.line, first.col, first.start, first.end - 1)
                token = Token(kind, text[first.end : token.end + 1], token.line, token.col, first.end, token.end)
        made.append(token)
    return made


def _pair(first: Token, second: Token, text: str) -> T | None:
    word = second.text.upper()
    if word not in _SECOND or first.token_type not in (T.VAR, T.PARTITION):
        return None
    pair = _PAIRS.get((first.text.upper(), word))
    if pair is T.GROUPING_SETS:
        skipped = _SKIPPED.match(text, second.end + 1)
        if skipped is None or not text.startswith("(", skipped.end()):
            return None
    return pair


def _skipped(source: Source, at: int, gap: str) -> None:
    """Refuse what is neither space nor a comment: sqlglot skips comments of other languages too, and open ones."""
    skipped = _SKIPPED.match(gap)
    wrong = at + (skipped.end() if skipped else 0)
    if wrong == at + len(gap):
        return
    if source.text.startswith("/*", wrong):
        raise _open_comment(source.position(wrong))
    raise _strange(source, wrong)


def _number(source: Source, start: int, end: int) -> None:
    """Refuse a number that a name follows, such as 5x, 1e, 0x1F: it would be an alias. A keyword may follow."""
    number = _NUMBER.match(source.text, start)
    if number is None:
        raise _strange(source, start)
    behind = source.text[number.end() : number.end() + 1]
    word = _NAME.match(source.text, number.end())
    if (behind.isalpha() or behind == "_") and (word is None or word.group().upper() not in FlinkTokenizer.KEYWORDS):
        raise SqlError(f"a number runs into a name: {number.group()}{behind}…", position=source.position(start))
    if number.end() != end:
        raise _strange(source, number.end())


def _quoted(source: Source, token: Token) -> None:
    """Refuse an empty name, a binary literal of another form."""
    raw = source.text[token.start : token.end + 1]
    if raw[0] == "0":
        _number(source, token.start, token.end + 1)
    elif token.token_type is T.IDENTIFIER:
        raise SqlError("an identifier that is not closed", position=source.position(token.start))
    elif not _BINARY.fullmatch(raw):
        raise SqlError(_BAD_BINARY, position=source.position(token.start))


def _strange(source: Source, at: int) -> SqlError:
    character = source.text[at]
    position = source.position(at)
    if character == '"':
        return SqlError(
            "double quotes are not quotes in Flink's SQL",
            position=position,
            hint="Write identifiers in backticks and texts in single quotes.",
        )
    return SqlError(f"the character {character!r} does not belong here", position=position, hint=_HINTS.get(character))


def _open_comment(position: Position) -> SqlError:
    return SqlError("a comment that is not closed", position=position, hint="Close it with */.")


def _unclosed(source: Source, start: int) -> SqlError:
    """What sqlglot's tokenizer fails at: a text or a name without its end, a binary literal of other characters."""
    raw, position = source.text[start : start + 2], source.position(start)
    if raw == "/*":
        return _open_comment(position)
    if raw[:1] in "xX" and "'" in source.text[start + 2 :]:
        return SqlError(_BAD_BINARY, position=position)
    if raw[:1] == "`":
        return SqlError("an identifier that is not closed", position=position, hint="Close it with a backtick.")
    backslash = source.text.rfind("\\'", 0, start)
    hint = BACKSLASH if backslash >= 0 else None
    return SqlError("a text that is not closed", position=position, hint=hint)
