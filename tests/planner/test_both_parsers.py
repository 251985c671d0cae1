"""The parser on sqlglot reads what the one before it read: the same trees at the same places, the same refusals."""

from __future__ import annotations

import random

from execnodes.core.errors import SqlError
from planner.grammar import statements
from planner.grammar.cursor import Cursor
from planner.grammar.lexer import Source
from planner.parse import parse
from tests.planner.syntax_text import PROGRAMS, written


def before(text: str) -> str:
    try:
        return written(statements.script(Cursor(Source(text))))
    except SqlError as refused:
        return f"refused at {refused.position}"


def now(text: str) -> str:
    try:
        return written(parse(text))
    except SqlError as refused:
        return f"refused at {refused.position}"


def test_all_programs() -> None:
    assert not [name for name, text in PROGRAMS.items() if before(text) != now(text)]


def test_programs_with_a_token_less_or_more() -> None:
    chosen = random.Random(7)
    texts = [text for text in PROGRAMS.values() if len(text) < 3000 and not before(text).startswith("refused")]
    cut = {text: [text[each.start : each.end] for each in Source(text).tokens] for text in texts}
    words = sorted({word for found in cut.values() for word in found})
    differing = []
    for _ in range(1500):
        text = chosen.choice(texts)
        token = chosen.choice(Source(text).tokens)
        other = chosen.choice(("", text[token.start : token.end] * 2, chosen.choice(words)))
        changed = f"{text[: token.start]} {other} {text[token.end :]}"
        if before(changed) != now(changed):
            differing.append((changed, before(changed), now(changed)))
    assert len(differing) <= 15, differing[:3]  # COUNT(DISTINCT ), function names in backticks
