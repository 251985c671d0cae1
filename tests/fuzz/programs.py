"""Programs with tokens left out, doubled, swapped and put in: each statement is refused, or compiles into a plan."""

from __future__ import annotations

from contextlib import suppress
from functools import cache
from random import Random

from execnodes.core.errors import RekindleError
from execnodes.core.options import Configuration
from planner import statements as s
from planner import table_statements as t
from planner.parse import parse
from planner.sql.dialect import FLINK
from planner.sql.source import Source
from planner.sql.tokens import FlinkTokenizer
from rekindle.api.table_environment import TableEnvironment
from tests.fuzz.frame import Fuzzer
from tests.planner.syntax_text import PROGRAMS

_LONGEST, _MOST_CHANGES = 3000, 4
_RUNS = (s.ExecutePlan, s.CompilePlan, s.CompileAndExecutePlan, s.ExplainPlan, s.DropPlan, s.StopJob, s.DescribeJob,
         s.CreateFunction, s.AlterFunction, s.AddJar, s.Show, s.Explain)  # fmt: skip
"""Statements that do more than to declare or compile."""


def cut(text: str) -> list[str]:
    """The tokens of a script."""
    return [text[token.start : token.end + 1] for token in FlinkTokenizer(FLINK).cut(Source(text))]


@cache
def _programs() -> list[list[str]]:
    found = []
    for text in PROGRAMS.values():
        if len(text) < _LONGEST:
            with suppress(RekindleError):
                found.append(cut(text))
    return found


@cache
def words() -> list[str]:
    """All tokens that programs consist of."""
    return sorted({token for program in _programs() for token in program})


def draw(random: Random) -> str:
    """A program with one change or some."""
    return " ".join(changed(random, random.choice(_programs()), words(), _MOST_CHANGES))


def changed(random: Random, tokens: list[str], words: list[str], most: int) -> list[str]:
    """Tokens left out, doubled, swapped and put in."""
    tokens = list(tokens)
    for _ in range(random.randint(1, most)):
        at = random.randrange(len(tokens))
        match random.randrange(5):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, tokens[at])
            case 2:
                tokens[at] = random.choice(words)
            case 3:
                tokens.insert(at, random.choice(words))
            case _:
                other = random.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
        if not tokens:
            break
    return tokens


def run(text: str) -> None:
    """Parse, declare, compile; the last refusal is the program's."""
    environment, refused = TableEnvironment(Configuration()), None
    for statement in parse(text):
        if isinstance(statement, _RUNS):
            continue
        try:
            if isinstance(statement, s.Insert | s.StatementSet | s.QueryStatement):
                environment.compile_body(statement)
            elif not (isinstance(statement, t.CreateTable) and statement.query is not None):
                environment.execute_sql(statement.text)
        except RekindleError as error:
            refused = error
    if refused is not None:
        raise refused


FUZZER = Fuzzer(draw, run, quick=120)
