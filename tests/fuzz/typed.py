"""Expressions of a wanted type, from columns, literals and every function of the registry."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from itertools import product
from random import Random

from execnodes.core.errors import RekindleError
from execnodes.core.expressions import InputRef
from execnodes.core.types import LogicalType, Root, parse_type
from execnodes.functions import registry, resolve
from tests.planner.syntax_text import parse_expression

LITERALS = {
    "INT": ("1", "0", "-7", "2147483647"),
    "BIGINT": ("99999999999", "CAST(3 AS BIGINT)", "-9223372036854775807"),
    "DOUBLE": ("1E10", "-2.5E-3", "CAST('NaN' AS DOUBLE)"),
    "DECIMAL(10, 2)": ("2.50", "CAST(1 AS DECIMAL(10, 2))", "-0.01"),
    "STRING": ("'x'", "''", "'a''b${env:HOME}'", "'%_'", "u&'\\00e4'", "'ü\n\"`'"),
    "BOOLEAN": ("TRUE", "FALSE", "CAST(NULL AS BOOLEAN)", "1 = 2"),
    "DATE": ("DATE '2024-02-29'", "DATE '0001-01-01'", "CURRENT_DATE"),
    "TIMESTAMP(3)": ("TIMESTAMP '2024-01-01 00:00:00.123'", "TIMESTAMP '9999-12-31 23:59:59.999'"),
    "TIMESTAMP_LTZ(3)": ("CURRENT_TIMESTAMP", "TO_TIMESTAMP_LTZ(0, 3)"),
    "ARRAY<INT>": ("ARRAY[1, 2]", "ARRAY[CAST(NULL AS INT)]"),
    "MAP<STRING, INT>": ("MAP['a', 1]", "MAP['', 0, 'b', 2]"),
    "ROW<x INT, y STRING>": ("CAST(ROW(1, 'a') AS ROW<x INT, y STRING>)",),
}
"""Kinds of values by the type that stands for them."""
KINDS = tuple(LITERALS)
COMPARED = KINDS[:9]
"""Kinds whose values have an order."""
NUMBERS = KINDS[:4]
_CASTS = dict.fromkeys(NUMBERS, ("INT", "BIGINT", "DOUBLE", "STRING")) | {
    "STRING": ("INT", "BIGINT", "DOUBLE", "DECIMAL(10, 2)", "BOOLEAN", "DATE", "TIMESTAMP(3)", "DATE"),
    "DATE": ("STRING", "TIMESTAMP(3)"),
    "TIMESTAMP(3)": ("STRING", "DATE", "TIMESTAMP_LTZ(3)"),
}
"""Kinds that a kind is cast to."""
_OF_THREE = 30
"""Triples of operands that are tried of a function."""


@dataclass(frozen=True)
class Column:
    """A column in reach."""

    name: str
    kind: str
    time: bool = False
    """Whether it may be a time attribute."""


@cache
def calls() -> dict[str, list[tuple[str, tuple[str, ...]]]]:
    """Each kind to the functions, with kinds of operands, that give it: asked of the functions themselves."""
    random, found = Random(0), dict[str, list[tuple[str, tuple[str, ...]]]]()
    columns = {kind: InputRef(input_index=at, type=parse_type(_plan_type(kind))) for at, kind in enumerate(KINDS)}
    for name in sorted({each.name for each in registry.functions().values() if _callable(each.name)}):
        triples = [tuple(random.choices(KINDS, k=3)) for _ in range(_OF_THREE)]
        for operands in [(), *product(KINDS), *product(KINDS, repeat=2), *triples]:
            try:
                call = resolve(name, [columns[each] for each in operands])
            except RekindleError:
                continue
            kind = _kind(call.type)
            if kind is not None:
                found.setdefault(kind, []).append((name, operands))
    return found


def expression(random: Random, kind: str, columns: tuple[Column, ...], depth: int) -> str:
    """An expression of a kind over columns."""
    if not depth or random.random() < 0.25:
        fitting = [each.name for each in columns if each.kind == kind]
        return random.choice(fitting if fitting and random.random() < 0.75 else LITERALS[kind])

    def inner(kind: str, levels: int = 1) -> str:
        return expression(random, kind, columns, depth - levels)

    match random.randrange(7):
        case 0:
            return f"CASE WHEN {condition(random, columns, depth - 1)} THEN {inner(kind)} ELSE {inner(kind)} END"
        case 1:
            return f"{random.choice(('COALESCE', 'IFNULL', 'NULLIF'))}({inner(kind)}, {inner(kind)})"
        case 2 if kind in NUMBERS:
            return f"({inner(kind)} {random.choice('+-*/')} {inner(kind)})"
        case 2 if kind == "STRING":
            return f"({inner(kind)} || {inner(kind)})"
        case 2 if kind == "INT":
            return random.choice((f"{inner('ROW<x INT, y STRING>')}.x", f"{inner('ARRAY<INT>')}[1]"))
        case 3:
            sources = [source for source, targets in _CASTS.items() if kind in targets]
            if sources:
                return f"{random.choice(('CAST', 'TRY_CAST'))}({inner(random.choice(sources))} AS {kind})"
        case 4 if kind == "BOOLEAN":
            return f"({condition(random, columns, depth - 1)})"
    found = calls().get(kind)
    if not found:
        return inner(kind)
    name, operands = random.choice(found)
    return f"{name}({', '.join(map(inner, operands))})"


def condition(random: Random, columns: tuple[Column, ...], depth: int) -> str:
    """A predicate."""
    kind = random.choice(COMPARED)

    def inner(kind: str) -> str:
        return expression(random, kind, columns, max(depth - 1, 0))

    match random.randrange(9):
        case 0:
            negated = random.choice(("", "NOT "))
            return f"{inner(kind)} {negated}BETWEEN {random.choice(('', 'SYMMETRIC '))}{inner(kind)} AND {inner(kind)}"
        case 1:
            return f"{inner(kind)} IS {random.choice(('', 'NOT '))}NULL"
        case 2:
            values = ", ".join(random.choices(LITERALS[kind], k=random.randint(1, 4)))
            return f"{inner(kind)} {random.choice(('', 'NOT '))}IN ({values})"
        case 3:
            return f"{inner('STRING')} {random.choice(('LIKE', 'NOT LIKE', 'SIMILAR TO'))} 'a%'"
        case 4 if depth > 0:
            word = random.choice(("AND", "OR"))
            return f"({condition(random, columns, depth - 1)} {word} {condition(random, columns, depth - 1)})"
        case 5 if depth > 0:
            return f"NOT ({condition(random, columns, depth - 1)})"
        case 6:
            return f"({inner('BOOLEAN')}) IS {random.choice(('TRUE', 'NOT FALSE', 'UNKNOWN'))}"
        case _:
            operator = random.choice(("=", "<>", "<", ">=", "IS DISTINCT FROM"))
            return f"{inner(kind)} {operator} {inner(kind)}"


def _callable(name: str) -> bool:
    """Whether the function is called by its name and parentheses."""
    if not re.fullmatch(r"\w+", name):
        return False
    try:
        parse_expression(f"{name}(a)")
    except RekindleError:
        return False
    return True


def _plan_type(kind: str) -> str:
    return re.sub(r"\b([xy]) ", r"`\1` ", kind)


def _kind(type: LogicalType) -> str | None:
    if type.root is Root.VARCHAR:
        return "STRING"
    plain = str(type.regular().with_nullable(True))
    return next((each for each in KINDS if _plan_type(each) == plain), None)
