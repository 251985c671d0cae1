"""Random SQL: queries from a grammar, and the programs of tests/conformance with tokens changed."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

from execnodes.core.errors import RekindleError
from execnodes.core.options import Configuration
from execnodes.functions import registry
from planner import statements as s
from planner.catalog import ddl
from planner.catalog.catalogs import Catalog
from planner.parse import parse
from plans.format.codec import encode
from plans.format.load import load
from rekindle.statements.compile import compile_graph
from tests.fuzz.frame import Fuzzer

TABLES = """
CREATE TABLE t (k STRING, a INT, b BIGINT, d DECIMAL(10, 2), f BOOLEAN, xs ARRAY<INT>, m MAP<STRING, INT>,
  r ROW<x INT, y STRING>, day DATE, ts TIMESTAMP(3), WATERMARK FOR ts AS ts - INTERVAL '1' SECOND)
WITH ('connector' = 'datagen', 'number-of-rows' = '5');
CREATE TABLE u (id INT NOT NULL, k STRING, v DOUBLE, at TIMESTAMP_LTZ(3), c AS id + 1, PRIMARY KEY (id) NOT ENFORCED,
  WATERMARK FOR at AS at) WITH ('connector' = 'datagen', 'number-of-rows' = '5');
CREATE TABLE cdc (id INT NOT NULL, k STRING, v BIGINT, PRIMARY KEY (id) NOT ENFORCED)
WITH ('connector' = 'filesystem', 'path' = 'nowhere', 'format' = 'debezium-json');
CREATE TABLE out (k STRING, n BIGINT, PRIMARY KEY (k) NOT ENFORCED) WITH ('connector' = 'print');
"""
TOGETHER = 10
"""Statements of a case from the grammar."""
BREAK = "\n---\n"
"""Between statements of a case that know nothing of each other."""
PROGRAMS = Path(__file__).parents[1] / "conformance" / "programs"
COLUMNS = (
    "k",
    "a",
    "b",
    "d",
    "f",
    "xs",
    "m",
    "r",
    "r.x",
    "day",
    "ts",
    "id",
    "v",
    "at",
    "c",
    "t.k",
    "u.k",
    "x.a",
    "*",
    "n",
)
LITERALS = (
    "1", "0", "-7", "2.5", "1E10", "99999999999999999999999", "'x'", "''", "'2024-02-30'", "NULL", "TRUE", "UNKNOWN",
    "DATE '2024-02-29'", "TIMESTAMP '2024-01-01 00:00:00.123'", "TIME '12:00:00'", "INTERVAL '1' DAY", "X'0a'",
    "INTERVAL '1-2' YEAR TO MONTH", "CURRENT_TIMESTAMP", "ARRAY[1, 2]", "MAP['a', 1]", "ROW(1, 'a')", "u&'\\00e4'",
)  # fmt: skip
TYPES = (
    "INT", "BIGINT", "STRING", "CHAR(3)", "VARCHAR(2)", "DECIMAL(38, 10)", "DECIMAL(5)", "DOUBLE", "BOOLEAN", "DATE",
    "TIMESTAMP(3)", "TIMESTAMP_LTZ(6)", "TIME", "BYTES", "ARRAY<INT>", "MAP<STRING, INT>", "ROW<x INT>", "TINYINT",
)  # fmt: skip
OPERATORS = ("+", "-", "*", "/", "%", "||", "=", "<>", "<", ">=", "AND", "OR", "IS DISTINCT FROM", "LIKE", "IN")
AGGREGATES = ("COUNT", "SUM", "MIN", "MAX", "AVG", "LISTAGG", "COLLECT", "FIRST_VALUE", "STDDEV_POP", "ARRAY_AGG")
RELATIONS = (
    "t", "u", "cdc", "t AS x", "nowhere", "TABLE(TUMBLE(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE))",
    "TABLE(HOP(TABLE t, DESCRIPTOR(ts), INTERVAL '1' MINUTE, INTERVAL '2' MINUTE))", "(VALUES (1, 'a')) AS x(a, k)",
    "UNNEST(xs)", "t CROSS JOIN UNNEST(xs) AS e(n)",
)  # fmt: skip


def draw(random: Random) -> str:
    """Half of the cases are of the grammar."""
    if random.random() < 0.5:
        return _mutated(random)
    return BREAK.join(_statement(random) for _ in range(TOGETHER))


def run(text: str) -> None:
    """Parse and compile all; what compiles must be readable again. The first refusal is raised in the end."""
    refusals = []
    for part in text.split(BREAK):
        try:
            _run(part)
        except RekindleError as error:
            refusals.append(error)
    if refusals:
        raise refusals[0]


def _run(text: str) -> None:
    catalog, configuration = Catalog(), Configuration()
    for statement in _tables():
        ddl.execute(statement, catalog, configuration)
    for statement in parse(text):
        match statement:
            case s.QueryStatement() | s.Insert() | s.StatementSet():
                load(encode(compile_graph(statement, catalog, configuration)))
            case s.SetOption(key=str(key), value=str(value)):
                configuration.put(key, value)
            case s.CreateTable() | s.CreateView() | s.Drop() | s.AlterTable() | s.Use() | s.CreateDatabase():
                ddl.execute(statement, catalog, configuration)
            case _:
                pass


@cache
def _tables() -> list[s.Statement]:
    return parse(TABLES)


@cache
def _programs() -> list[list[str]]:
    """Scripts of the conformance programs as tokens."""
    texts = (path.read_text(encoding="utf-8") for path in sorted(PROGRAMS.rglob("program.sql")))
    return [re.findall(r"\s+|\w+|'[^']*'|.", text) for text in texts]


@cache
def _words() -> list[str]:
    """What programs consist of."""
    return sorted({token for tokens in _programs() for token in tokens if not token.isspace()})


def _mutated(random: Random) -> str:
    tokens = list(random.choice(_programs()))
    for _ in range(random.randint(1, 5)):
        at = random.randrange(len(tokens))
        match random.randrange(5):
            case 0:
                del tokens[at]
            case 1:
                tokens.insert(at, random.choice(_words()))
            case 2:
                tokens[at] = random.choice(_words())
            case 3:
                other = random.randrange(len(tokens))
                tokens[at], tokens[other] = tokens[other], tokens[at]
            case _:
                tokens[at:at] = tokens[at : at + random.randint(1, 20)]
        tokens = tokens or [";"]
    return "".join(tokens)


def _statement(random: Random) -> str:
    match random.randrange(12):
        case 0:
            return f"INSERT INTO out {_query(random, 2)}"
        case 1:
            return f"SET 'execution.runtime-mode' = 'batch'; {_query(random, 2)}"
        case 2:
            return f"CREATE TEMPORARY VIEW v AS {_query(random, 1)}; SELECT * FROM v"
        case _:
            return _query(random, 2)


def _query(random: Random, depth: int) -> str:
    if depth and random.random() < 0.15:
        operator = random.choice(("UNION ALL", "UNION", "EXCEPT", "INTERSECT"))
        return f"({_query(random, depth - 1)}) {operator} {_query(random, depth - 1)}"
    if depth and random.random() < 0.1:
        return f"WITH x AS ({_query(random, depth - 1)}) {_query(random, depth - 1)}"
    grouped = random.random() < 0.3
    items = [_item(random, depth, grouped) for _ in range(random.randint(1, 4))]
    parts = [
        f"SELECT {'DISTINCT ' if random.random() < 0.1 else ''}{', '.join(items)}",
        f"FROM {_relation(random, depth)}",
    ]
    if random.random() < 0.5:
        parts.append(f"WHERE {_condition(random, depth)}")
    if grouped:
        keys = ", ".join(random.choice(COLUMNS) for _ in range(random.randint(1, 2)))
        parts.append(f"GROUP BY {random.choice(('{}', 'ROLLUP ({})', 'GROUPING SETS (({}), ())')).format(keys)}")
        if random.random() < 0.3:
            parts.append(f"HAVING {_condition(random, depth)}")
    if random.random() < 0.05:
        parts.append(f"ORDER BY {_expression(random, 0)} LIMIT {random.choice(('1', '0', '-1', '99999999999'))}")
    return " ".join(parts)


def _item(random: Random, depth: int, grouped: bool) -> str:
    if grouped and random.random() < 0.6:
        distinct = "DISTINCT " if random.random() < 0.2 else ""
        where = f" FILTER (WHERE {_condition(random, 0)})" if random.random() < 0.1 else ""
        return f"{random.choice(AGGREGATES)}({distinct}{_expression(random, depth)}){where}"
    if random.random() < 0.08:
        over = f"OVER (PARTITION BY {_expression(random, 0)} ORDER BY {random.choice(COLUMNS)})"
        return f"{random.choice(('ROW_NUMBER()', 'RANK()', 'SUM(a)', 'LAG(a)'))} {over} AS n"
    return _expression(random, depth) + random.choice(("", "", " AS n", " AS k"))


def _relation(random: Random, depth: int) -> str:
    if depth and random.random() < 0.25:
        kind = random.choice(("JOIN", "LEFT JOIN", "FULL JOIN", "CROSS JOIN"))
        on = (
            ""
            if kind == "CROSS JOIN"
            else random.choice((" ON t.k = u.k", " USING (k)", f" ON {_condition(random, 0)}"))
        )
        return f"{random.choice(RELATIONS)} {kind} {random.choice(RELATIONS)}{on}"
    return f"({_query(random, depth - 1)})" if depth and random.random() < 0.25 else random.choice(RELATIONS)


def _condition(random: Random, depth: int) -> str:
    match random.randrange(8):
        case 0 if depth:
            return f"{_expression(random, 0)} IN ({_query(random, depth - 1)})"
        case 1 if depth:
            return f"{random.choice(('', 'NOT '))}EXISTS ({_query(random, depth - 1)})"
        case 2:
            return f"{_expression(random, depth)} BETWEEN {_expression(random, 0)} AND {_expression(random, 0)}"
        case 3:
            test = random.choice(("NULL", "TRUE", "NOT NULL", "NOT UNKNOWN", "JSON OBJECT"))
            return f"{_expression(random, depth)} IS {test}"
        case _:
            operator = random.choice(("=", "<", ">", "<>", "LIKE"))
            return f"{_expression(random, depth)} {operator} {_expression(random, depth)}"


@cache
def _functions() -> list[str]:
    return sorted({function.name for function in registry.functions().values() if function.name[0].isalpha()})


def _expression(random: Random, depth: int) -> str:
    if not depth or random.random() < 0.3:
        return random.choice(COLUMNS if random.random() < 0.6 else LITERALS)
    operands = [_expression(random, depth - 1) for _ in range(3)]
    match random.randrange(8):
        case 0 | 1:
            return f"({operands[0]} {random.choice(OPERATORS)} {operands[1]})"
        case 2 | 3 | 4:
            return f"{random.choice(_functions())}({', '.join(operands[: random.randint(0, 3)])})"
        case 5:
            return f"CASE WHEN {_condition(random, 0)} THEN {operands[0]} ELSE {operands[1]} END"
        case 6:
            return f"{random.choice(('CAST', 'TRY_CAST'))}({operands[0]} AS {random.choice(TYPES)})"
        case _:
            return f"{operands[0]} IN ({', '.join(operands[1:])})"


FUZZER = Fuzzer(draw, run, quick=60)
