"""Trees and places of all programs stay as they are; no token of a program is read over."""

from __future__ import annotations

import random
from hashlib import sha256

import pytest
from syrupy.assertion import SnapshotAssertion

from execnodes.core.errors import SqlError
from planner.parse import parse
from planner.sql.dialect import FLINK
from planner.sql.source import Source
from planner.sql.tokens import FlinkTokenizer
from tests.planner.syntax_text import PROGRAMS, written


def read(text: str) -> str:
    try:
        return written(parse(text))
    except SqlError as refused:
        return f"{refused.position} {refused.message} {refused.hint}"


def test_trees_and_places(snapshot: SnapshotAssertion) -> None:
    """A digest a program: of its syntax with every position, or of the error that refuses it."""
    assert {name: sha256(read(text).encode()).hexdigest()[:16] for name, text in PROGRAMS.items()} == snapshot


NO_EFFECT = {"AS", "INNER", "OUTER", "ALL", "ASC", "DISTINCT", "TABLE", "ROW", "ROWS", ";", "NULL", "+"}
"""What may be left out or doubled in some places: noise words, semicolons, signs."""


@pytest.mark.parametrize("change", ["left out", "doubled", "put in"])
def test_every_token_matters(change: str) -> None:
    """A program with a token less or more is refused, or means something else."""
    chosen = random.Random(change)
    texts = [text for text in PROGRAMS.values() if len(text) < 4000]
    cut = {text: FlinkTokenizer(FLINK).cut(Source(text)) for text in texts}
    words = sorted({text[token.start : token.end + 1] for text, found in cut.items() for token in found})
    read_over = []
    for _ in range(400):
        text = chosen.choice(texts)
        try:
            whole = parse(text)
        except SqlError:
            continue
        token = chosen.choice(cut[text])
        word = text[token.start : token.end + 1]
        other = {"left out": "", "doubled": f"{word} {word}", "put in": f"{chosen.choice(words)} {word}"}[change]
        try:
            changed = parse(f"{text[: token.start]} {other} {text[token.end + 1 :]}")
        except SqlError:
            continue
        if changed == whole and not {*other.upper().split(), word.upper()} & NO_EFFECT:
            read_over.append((word, other, text))
    assert not read_over
