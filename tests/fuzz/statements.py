"""Random SQL from a grammar, most of which compiles, and some of it with tokens changed."""

from __future__ import annotations

import re
from functools import cache
from random import Random

from execnodes.core.errors import RekindleError, SqlError
from execnodes.core.options import Configuration
from planner import ddl
from planner import statements as s
from planner import table_statements as t
from planner.catalog.catalogs import Catalog
from planner.parse import parse
from plans.format.codec import encode
from plans.format.load import load
from rekindle.statements.compile import compile_graph
from tests.fuzz.frame import Defect, Fuzzer
from tests.fuzz.programs import changed, cut, words
from tests.fuzz.queries import TABLES, script

_DAMAGED = 0.15
"""Share of statements in which tokens are changed."""


def draw(random: Random) -> str:
    """A statement with what must stand before it."""
    text = script(random)
    if random.random() >= _DAMAGED:
        return text
    try:
        tokens = cut(text)
    except SqlError:
        # A name in it is no text: that is refused before there are tokens.
        return text
    return " ".join(changed(random, tokens, words(), 2))


def run(text: str) -> None:
    """Parse and compile; what compiles is the same when it is written and read. A refusal has its place."""
    catalog, configuration = Catalog(), Configuration()
    named = set(re.findall(r"\w+", text))
    for statement in _tables():
        if isinstance(statement, t.CreateTable) and statement.path[-1] in named:
            ddl.execute(statement, catalog, configuration)
    try:
        for statement in parse(text):
            _run(statement, catalog, configuration)
    except SqlError as error:
        if error.position is None:
            raise Defect(f"a refusal without its place: {error}") from error
        raise


def _run(statement: s.Statement, catalog: Catalog, configuration: Configuration) -> None:
    match statement:
        case s.QueryStatement() | s.Insert() | s.StatementSet():
            graph = compile_graph(statement, catalog, configuration)
            try:
                read = load(encode(graph))
            except RekindleError as error:
                raise Defect(f"what was just compiled is refused: {error.message}") from error
            if read.nodes != graph.nodes:
                raise Defect("a plan is not the same when it is written and read again")
        case s.SetOption(key=str(key), value=str(value)):
            configuration.put(key, value)
        case t.CreateTable() | s.CreateView() | s.Drop() | t.AlterTable() | s.Use() | s.CreateDatabase():
            ddl.execute(statement, catalog, configuration)
        case _:
            pass


@cache
def _tables() -> list[s.Statement]:
    return parse(TABLES)


FUZZER = Fuzzer(draw, run, quick=150)
