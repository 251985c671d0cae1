"""Programs with tokens left out, doubled, swapped and put in: each statement is refused, or compiles into a plan."""

from __future__ import annotations

from functools import cache
from random import Random

from execnodes.core.errors import RekindleError
from execnodes.core.options import Configuration
from planner import statements as s
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


@cache
def _cut() -> tuple[list[list[str]], list[str]]:
    programs = []
    for text in PROGRAMS.values():
        if len(text) < _LONGEST:
            try:
                tokens = FlinkTokenizer(FLINK).cut(Source(text))
            except RekindleError:
                continue
            programs.append([text[token.start : token.end + 1] for token in tokens])
    return programs, sorted({token for program in programs for token in program})


def draw(random: Random) -> str:
    """A program with one change or some."""
    programs, words = _cut()
    tokens = list(random.choice(programs))
    for _ in range(random.randint(1, _MOST_CHANGES)):
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
    return " ".join(tokens)


def run(text: str) -> None:
    """Parse, declare, compile; the last refusal is the program's."""
    environment, refused = TableEnvironment(Configuration()), None
    for statement in parse(text):
        if isinstance(statement, _RUNS):
            continue
        try:
            if isinstance(statement, s.Insert | s.StatementSet | s.QueryStatement):
                environment.compile_body(statement)
            elif not (isinstance(statement, s.CreateTable) and statement.query is not None):
                environment.execute_sql(statement.text)
        except RekindleError as error:
            refused = error
    if refused is not None:
        raise refused


FUZZER = Fuzzer(draw, run, quick=120)
