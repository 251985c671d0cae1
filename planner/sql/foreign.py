"""What other systems write, and what is misspelt: errors that say what it is and what to write in Flink's SQL."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from sqlglot.tokenizer_core import Token
from sqlglot.tokenizer_core import TokenType as T

from execnodes.core.errors import SqlError
from planner.sql.source import Source
from planner.sql.words import TYPES

BACKSLASH = "A backslash escapes nothing: a quote in a text is doubled, 'it''s'."
_WITH = "Write WITH ('connector' = '…', …) behind the columns."
_REGEXP = "Write REGEXP(text, pattern)."
_NAMED = "Name the columns that are wanted."
_UNNEST = "Write CROSS JOIN UNNEST(collection) AS t (x) in FROM."
_MARKS = {
    (":", ":"): "Write CAST(value AS type).",
    ("=", "="): "Write =.",
    ("<=", ">"): "Write IS NOT DISTINCT FROM.",
    ("-", ">"): "Write JSON_VALUE(text, path), or row.field.",
}
"""Operators of others, as the two marks that they fall into."""
_OPERATORS = {
    "ILIKE": "Write LOWER(text) LIKE LOWER(pattern).",
    "RLIKE": _REGEXP,
    "REGEXP": _REGEXP,
    "GLOB": "Write LIKE or SIMILAR TO.",
    "DIV": "Write /, which is whole between whole numbers.",
}
_CLAUSES = {
    "USING": "Write WITH ('connector' = 'filesystem', 'path' = '…', 'format' = 'parquet') behind the columns.",
    "STORED": _WITH,
    "LOCATION": _WITH,
    "TBLPROPERTIES": _WITH,
    "OPTIONS": _WITH,
    "ENGINE": _WITH,
    "CLUSTERED": "Write PARTITIONED BY (…).",
    "WITH": "WITH (…) stands in front of AS.",
    "SELECT": "Write AS SELECT.",
}
"""What stands in others' CREATE TABLE."""
_BEGINNINGS = {
    "UPDATE": "Rows are not changed in place: write INSERT INTO a table with a primary key.",
    "DELETE": "Rows are not deleted by statements: a row goes when a query no longer gives it.",
    "MERGE": "Write INSERT INTO a table with a primary key.",
    "UPSERT": "Write INSERT INTO a table with a primary key.",
    "REPLACE": "Write CREATE OR REPLACE TABLE … AS SELECT; for rows, INSERT INTO a table with a primary key.",
    "TRUNCATE": "Write INSERT OVERWRITE.",
    "ANALYZE": "Plans do not go by statistics: leave it out.",
    "CALL": "There are no procedures.",
    "REMOVE": "No jar was added: functions and connectors of Rekindle are part of it.",
    "PRAGMA": "Write SET 'key' = 'value'.",
    "FROM": "Write SELECT … FROM ….",
}
BEHIND_TABLES = {
    "TABLESAMPLE": "Write WHERE RAND() < 0.1 for a tenth of the rows.",
    "PIVOT": "Write an aggregate for each column: SUM(value) FILTER (WHERE name = 'a') AS a, with GROUP BY.",
    "UNPIVOT": "Write a query for each column, and UNION ALL between them.",
}
"""Clauses behind a table that are not supported, and what does the same."""
_WORDS = (
    "SELECT", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "JOIN", "UNION", "WINDOW", "VALUES", "BETWEEN",
    "DISTINCT", "INTO", "TABLE", "PARTITIONED", "COMMENT", "WATERMARK", "EXISTS",
)  # fmt: skip
"""Words that are taken for names when they are misspelt."""
_OPERANDS = frozenset({T.VAR, T.IDENTIFIER, T.STRING, T.NUMBER, T.L_PAREN})


def begins(word: str, known: Sequence[str]) -> str:
    """What to write instead of a word that begins no statement."""
    meant = get_close_matches(word.upper(), known, 1, 0.7)
    return _BEGINNINGS.get(word.upper()) or f"{f'Did you mean {meant[0]}? ' if meant else ''}Known: {', '.join(known)}."


def instead(tokens: Sequence[Token], index: int, source: Source) -> SqlError | None:
    """An error about what the parser stopped in, if it is another system's SQL or a misspelt word."""

    def word(offset: int) -> str:
        at = index + offset
        plain = 0 <= at < len(tokens) and tokens[at].token_type not in (T.STRING, T.IDENTIFIER, T.UNICODE_STRING)
        return tokens[at].text.upper() if plain else ""

    def error(what: str, offset: int, hint: str, belongs: str = "is not Flink's SQL") -> SqlError:
        return SqlError(f"{what} {belongs}", position=source.position(tokens[index + offset].start), hint=hint)

    for first in (0, -1):
        marks = word(first), word(first + 1)
        if marks in _MARKS and tokens[index + first].end + 1 == tokens[index + first + 1].start:
            return error("".join(marks), first, _MARKS[marks])
    kind = tokens[index].token_type if index < len(tokens) else T.SENTINEL
    for at in (0, -1, 1) if word(0) == "NOT" else (0, -1):
        if word(at) in _OPERATORS and (at != -1 or kind in _OPERANDS):
            return error(word(at), at, _OPERATORS[word(at)])
    for back in (1, 2):
        if word(-back) in ("EXCEPT", "EXCLUDE", "REPLACE") and word(-back - 1) == "*" and word(1 - back) == "(":
            return error(f"* {word(-back)} (…)", -back, _NAMED)
    if word(0) == "(" and word(-1) in ("EXCLUDE", "REPLACE") and word(-2) == "*":
        return error(f"* {word(-1)} (…)", -1, _NAMED)
    if word(0) == "," and word(-2) == "LIMIT":
        skipped = word(-1)
        return error(f"LIMIT {skipped}, …", -2, f"Write LIMIT … OFFSET {skipped}.")
    if kind is T.NUMBER and word(-1) == "TOP" and word(-2) == "SELECT":
        return error(f"TOP {word(0)}", -1, f"Write LIMIT {word(0)} behind the query.")
    if word(0) == "ON" and word(-1) == "DISTINCT":
        return error(
            "DISTINCT ON", -1, "Write ROW_NUMBER() OVER (PARTITION BY …) in a subquery, and keep its first row."
        )
    if word(0) == "VIEW" and word(-1) == "LATERAL":
        return error("LATERAL VIEW", -1, _UNNEST)
    if word(0) == "LATERAL" and word(1) == "VIEW":
        return error("LATERAL VIEW", 0, _UNNEST)
    if word(0) == "UNNEST":
        return error("UNNEST", 0, _UNNEST, "stands in FROM")
    if word(0) == "GROUPS" and word(-1) != ",":
        return error("GROUPS in a window frame", 0, "Write ROWS or RANGE.", "is not supported")
    for at in (0, -1):
        if word(at) == "COLUMN" and word(at - 1) in ("ADD", "DROP", "MODIFY", "RENAME"):
            return error("COLUMN at this place", at, "Leave the word out.")
    if word(0) == "WITH" and word(1) in ("ROLLUP", "CUBE"):
        return error(f"WITH {word(1)}", 0, f"Write GROUP BY {word(1)} (…).")
    for at in range(max(index - 2, 0), min(index, len(tokens) - 1)):
        if _backslashed(tokens[at], tokens[at + 1], source):
            return error("a quote behind a backslash", at - index, BACKSLASH, "ends the text")
    if word(0) in _CLAUSES and _statement(tokens, index) == ("CREATE", "TABLE"):
        return error(f"{word(0)} at this place", 0, _CLAUSES[word(0)])
    return _misspelt(tokens, index, source)


def _backslashed(before: Token, token: Token, source: Source) -> bool:
    return before.token_type is T.STRING and source.text[before.end - 1] == "\\" and before.end + 1 == token.start


def _statement(tokens: Sequence[Token], index: int) -> tuple[str, str]:
    """The first two words of the statement that a token is in."""
    first = index
    while first and tokens[first - 1].token_type is not T.SEMICOLON:
        first -= 1
    words = [token.text.upper() for token in tokens[first : first + 3] if token.text.upper() != "TEMPORARY"]
    return words[0], words[1] if len(words) > 1 else ""


def _misspelt(tokens: Sequence[Token], index: int, source: Source) -> SqlError | None:
    for at in (index - 1, index):
        if 0 <= at < len(tokens) and tokens[at].token_type is T.VAR:
            word = tokens[at].text.upper()
            meant = get_close_matches(word, _WORDS, 1, 0.75)
            known = word in TYPES or meant == [word]
            if meant and not known and abs(len(word) - len(meant[0])) <= 1:
                position = source.position(tokens[at].start)
                hint = f"Did you mean {meant[0]}?"
                return SqlError(f"{tokens[at].text} does not belong here", position=position, hint=hint)
    return None
