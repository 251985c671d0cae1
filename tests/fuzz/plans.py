"""Plans, changed as a stranger would: refused by us, or they agree with themselves and put nothing into Spark's SQL.

The plans that are changed are those of some of the conformance programs, for streams and for batch.
"""

from __future__ import annotations

import copy
import json
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache
from random import Random
from typing import Any

from execnodes.core.errors import RekindleError
from execnodes.core.expressions import Expression
from execnodes.core.graph import ExecGraph
from execnodes.functions import lower
from execnodes.lowering.stream import quote
from plans.compatibility.plan_meanings import meanings
from plans.evolution.upgrade import upgrade
from plans.format.codec import encode
from plans.format.explain import plan_tree
from plans.format.lint import lint
from plans.format.load import load
from plans.format.references import Part, references
from rekindle.api.table_environment import TableEnvironment
from tests.fuzz.frame import Defect, Fuzzer
from tests.fuzz.tokens import not_ours
from tests.plans.corpus import PROGRAMS, compile_program

MARK = "rkfuzz"
"""In every hostile text: where it turns up in SQL outside of a constant or a quoted name, it was injected."""
SCRIPT = """
CREATE TABLE t (a INT, b STRING, d DOUBLE, m DECIMAL(10, 2), day DATE, ts TIMESTAMP(3), r ROW<x INT, `y z` STRING>,
  l ARRAY<STRING>, WATERMARK FOR ts AS ts - INTERVAL '5' SECOND)
  WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE s (a STRING, b BOOLEAN, c STRING, d STRING, e TIMESTAMP(3), f STRING, g BOOLEAN, h BOOLEAN, i STRING,
  j BIGINT, k STRING, m DATE NOT NULL, n STRING) WITH ('connector' = 'print');
CREATE FUNCTION shout AS 'tests.user_functions.examples:shout' LANGUAGE PYTHON;
INSERT INTO s SELECT TRIM(LEADING 'x' FROM b), b IS JSON OBJECT, JSON_VALUE(b, 'lax $.a' DEFAULT 'n' ON EMPTY),
  JSON_QUERY(b, '$.a' WITH WRAPPER), FLOOR(ts TO HOUR), DATE_FORMAT(ts, 'yyyy-MM-dd'), b LIKE 'a!%' ESCAPE '!',
  b SIMILAR TO '[a-c]%', OVERLAY(b PLACING 'q' FROM 2), EXTRACT(DAY FROM ts), shout(r.`y z`),
  DATE '2020-01-31', JSON_OBJECT('k' VALUE CAST(m AS STRING)) FROM t
  WHERE d > 1.5E0 AND m < 12.50 AND ts > TIMESTAMP '2020-01-01 00:00:00' AND day <> DATE '2020-02-29' AND l[1] = 'a'
    AND CAST(b AS BYTES) = X'00FF'
"""
LISTS = """
CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE s (a INT, n STRING) WITH ('connector' = 'print');
INSERT INTO s SELECT a, LISTAGG(b, '|') FILTER (WHERE a > 1) FROM t GROUP BY a
"""
"""Functions that take words, patterns, formats and names."""
CALLS = """
CREATE TABLE t (a INT, b STRING) WITH ('connector' = 'filesystem', 'path' = '/in', 'format' = 'json');
CREATE TABLE s (a BIGINT, n STRING) WITH ('connector' = 'print');
CREATE FUNCTION words AS 'tests.user_functions.examples:words' LANGUAGE PYTHON;
CREATE FUNCTION asked AS 'tests.user_functions.examples:asked' LANGUAGE PYTHON;
INSERT INTO s SELECT asked(a), w FROM t LEFT JOIN LATERAL TABLE(words(b)) AS r (w, l) ON TRUE WHERE asked(l) > 0
"""
"""Functions of the user that give tables, and some that wait."""
TEXTS = (
    *(
        f"{MARK}' OR '1'='1",
        f"{MARK}\\",
        f"{MARK}\\' --",
        f"${{env:{MARK}}}",
        f"`{MARK}`",
        f"{MARK}\n--",
        f"/*{MARK}*/",
    ),
    *(f"{MARK}') , reflect('java.lang.System','exit','1'), ('", f"{MARK}\0", f"{MARK}\ud800", f"{{0}}{MARK}{{x}}"),
    *(f"2020-01-01' || '{MARK}", f"1' AS DOUBLE) || '{MARK}", f"00' || X'{MARK}", f"UTC'), ('{MARK}", f"../{MARK}"),
)
NUMBERS: tuple[Any, ...] = (-1, -2, 0, 1, 2, 7, 99, 2**31, 2**63, -(2**63), 10**30, True, False, None, 1.5, "1", [], {})
TYPES = (
    *("INT", "STRING", "DOUBLE", "DATE", "TIMESTAMP(3)", "TIMESTAMP(3) *ROWTIME*", "BYTES", "DECIMAL(38, 38)"),
    *("DECIMAL(10, 2)", "TIME(0)", "TIMESTAMP_LTZ(3)", "BOOLEAN", "INTERVAL SECOND", "INTERVAL MONTH", "INTERVAL DAY"),
    *(
        "ARRAY<INT>",
        "MAP<STRING, INT>",
        "MULTISET<INT>",
        "NULL",
        f"ROW<`{MARK}' ``` INT>",
        "ROW<>",
        "CHAR(0)",
        "INT NOT NULL",
    ),
)
Json = Any
Place = tuple[Json, Any]
"""A container and a key in it."""


@cache
def corpus() -> tuple[str, ...]:
    """Plans that are changed."""
    found = [TableEnvironment.create({}).compile_script(each).as_json_string() for each in (SCRIPT, LISTS, CALLS)] * 4
    every = sorted(each.parent.relative_to(PROGRAMS).as_posix() for each in PROGRAMS.glob("*/*/program.sql"))
    for name in Random(7).sample(every, 60):
        for options in ({}, {"execution.runtime-mode": "batch"}):
            plan = compile_program(name, options)
            if not isinstance(plan, RekindleError):
                found.append(plan.as_json_string())
    return tuple(found)


def draw(random: Random) -> str:
    """A plan of the corpus with one change, or with several."""
    plan = json.loads(random.choice(corpus()))
    for _ in range(1 if random.random() < 0.7 else random.randrange(2, 5)):
        every = places(plan)
        if every:
            with suppress(IndexError):
                # There is nothing of the kind left to change.
                random.choice(CHANGES)(random, plan, every)
    return json.dumps(plan)


def places(value: Json) -> list[Place]:
    """Every place in a JSON value; without recursion."""
    found: list[Place] = []
    rest = [value]
    while rest:
        here = rest.pop()
        keys = list(here) if isinstance(here, dict) else range(len(here))
        for key in keys:
            found.append((here, key))
            if isinstance(here[key], dict | list):
                rest.append(here[key])
    return found


def _hostile(random: Random, there: Json) -> Json:
    """Something of the kind of what is there, or of another kind."""
    if isinstance(there, bool) or there is None or random.random() < 0.1:
        return random.choice([*NUMBERS, *TEXTS, *TYPES])
    if isinstance(there, int):
        return random.choice([*NUMBERS, there + 1, -there, there - 1])
    if isinstance(there, str):
        looks = [*TEXTS, there + random.choice(TEXTS), there[: len(there) // 2], there.swapcase(), ""]
        return random.choice(TYPES if random.random() < 0.3 else looks)
    return random.choice([*NUMBERS, [there], {"x": there}])


def _set(random: Random, plan: Json, every: list[Place]) -> None:
    container, key = random.choice(every)
    container[key] = _hostile(random, container[key])


def _text(random: Random, plan: Json, every: list[Place]) -> None:
    texts = [(c, k) for c, k in every if isinstance(c[k], str)]
    container, key = random.choice(texts)
    container[key] = random.choice([*TEXTS, container[key] + random.choice(TEXTS)])


def _number(random: Random, plan: Json, every: list[Place]) -> None:
    numbers = [(c, k) for c, k in every if isinstance(c[k], int)]
    container, key = random.choice(numbers or every)
    container[key] = random.choice(NUMBERS)


def _literal(random: Random, plan: Json, every: list[Place]) -> None:
    literals = [c for c, k in every if k == "kind" and c[k] == "LITERAL"]
    if literals:
        one = random.choice(literals)
        one["type"] = random.choice([one.get("type"), *TYPES])
        one["value"] = random.choice([one.get("value"), *TEXTS, *NUMBERS])


def _symbol(random: Random, plan: Json, every: list[Place]) -> None:
    """A constant text that is hostile and otherwise fits."""
    literals = [c for c, k in every if k == "kind" and c[k] == "LITERAL" and isinstance(c.get("value"), str)]
    one, text = random.choice(literals), random.choice([each for each in TEXTS if "\ud800" not in each])
    one.update(value=text, type=f"CHAR({len(text)}) NOT NULL")


def _type(random: Random, plan: Json, every: list[Place]) -> None:
    typed = [(c, k) for c, k in every if k in ("type", "outputType", "dataType") and isinstance(c[k], str)]
    container, key = random.choice(typed)
    other, its = random.choice(typed)
    container[key] = random.choice([other[its], *TYPES])


def _remove(random: Random, plan: Json, every: list[Place]) -> None:
    container, key = random.choice(every)
    del container[key]


def _double(random: Random, plan: Json, every: list[Place]) -> None:
    lists = [(c, k) for c, k in every if isinstance(c, list)]
    container, key = random.choice(lists)
    container.insert(random.randrange(len(container) + 1), copy.deepcopy(container[key]))


def _swap(random: Random, plan: Json, every: list[Place]) -> None:
    one, its = random.choice(every)
    other, key = random.choice([(c, k) for c, k in every if k == its or isinstance(its, int)])
    one[its], other[key] = copy.deepcopy(other[key]), copy.deepcopy(one[its])


def _name(random: Random, plan: Json, every: list[Place]) -> None:
    """A name in another case, or hostile, wherever it occurs: then everything may well agree."""
    names = [c[k] for c, k in every if k == "name" and isinstance(c[k], str)]
    if names:
        old, new = random.choice(names), random.choice(TEXTS)
        for container, key in every:
            there = container[key]
            if isinstance(there, str) and (there == old or f"`{old}`" in there):
                container[key] = there.replace(f"`{old}`", quote(new)) if there != old else new


CHANGES: tuple[Callable[[Random, Json, list[Place]], None], ...] = (
    *(_set, _text, _number, _literal, _symbol, _type, _remove, _double, _swap, _name),
)


def run(text: str) -> None:
    """Load it; what loads is written and read again, explained, and all its expressions are lowered."""
    if zlib.crc32(text.encode()) % 10 == 0:
        _looked_at(text)
    graph = load(text)
    plan_tree(graph)
    if load(encode(graph)) != graph:
        raise Defect("a plan is not the same when it is written and read again")
    for node in graph.nodes:
        inputs = tuple(each.output_type for each in graph.inputs_of(node))
        for part in references(node, inputs):
            if isinstance(part, Part):
                _lowered(part, graph, node.configuration.get("table.local-time-zone", "UTC"))


def _looked_at(text: str) -> None:
    """What takes longer: lint says as much as loading does, migration and meanings fail with our errors only."""
    errors = [each for each in lint(text) if each.severity == "error"]
    try:
        graph = load(text)
    except RekindleError:
        if not errors:
            raise Defect("lint has nothing to say of a plan that is refused") from None
    else:
        meanings(graph)
    upgrade(text)


def _lowered(part: Part, graph: ExecGraph, zone: str) -> None:
    columns = [quote(field.name) for field in part.scope.columns]
    text = _sql(part.expression, columns, zone, graph.engine_version)
    wrong = not_ours(text, MARK)
    if wrong is not None:
        raise Defect(f"injected: {wrong}")


def _sql(expression: Expression, columns: list[str], zone: str, version: str) -> str:
    return lower(expression, columns, zone, version)


def smaller(text: str) -> Iterator[str]:
    """Nothing: half a plan is no plan, and the corpus has small ones."""
    return iter(())


FUZZER = Fuzzer(draw, run, smaller, quick=400)
