"""Flink's SQL as a dialect of sqlglot."""

from __future__ import annotations

from sqlglot.dialects.dialect import Dialect

from planner.sql.cursor import VALUES
from planner.sql.script import Script
from planner.sql.source import Source
from planner.sql.tokens import FlinkTokenizer


class Flink(Dialect):
    """The dialect; it only reads."""

    DPIPE_IS_STRING_CONCAT = False  # || binds as tightly as *
    Tokenizer = FlinkTokenizer
    Parser = Script


FLINK = Flink()


def words(text: str) -> list[str]:
    """The keywords, plain names and marks of a script in upper case; "" for what stands in quotes."""
    found = FlinkTokenizer(FLINK).cut(Source(text))
    return ["" if token.token_type in VALUES else token.text.upper() for token in found]


def script_of(text: str, *, is_stored: bool = False) -> Script:
    """A parser that stands before the first token of a script, or of a text that the catalog stores."""
    source, script = Source(text), Script(dialect=FLINK)
    script.begin(source, FlinkTokenizer(FLINK).cut(source), is_stored=is_stored)
    return script
