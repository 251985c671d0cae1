"""Function calls: the plain form, the clauses of aggregates, and the functions with a syntax of their own."""

from __future__ import annotations

from collections.abc import Callable

from execnodes.core.errors import Position
from execnodes.core.types import char
from planner.grammar import expressions as grammar
from planner.grammar import literals, query, windows
from planner.grammar.cursor import RESERVED, Cursor
from planner.grammar.json import JSON_FORMS
from planner.grammar.lexer import Kind
from planner.grammar.types import parse_type
from planner.syntax import Call, Expr

_BARE = ("CURRENT_DATE", "CURRENT_TIME", "CURRENT_TIMESTAMP", "LOCALTIME", "LOCALTIMESTAMP")
"""Functions written without parentheses."""


def function(cursor: Cursor) -> Expr | None:
    """A call that starts at the next word, or None if the word is no call."""
    token, position = cursor.token, cursor.here
    if token.upper == "CASE":
        return _case(cursor, position)
    if token.upper in _BARE and cursor.ahead(1).upper != "(":
        cursor.advance()
        return Call(token.upper, position=position)
    if token.upper in ("ARRAY", "MAP") and cursor.ahead(1).upper == "[":
        return _collection(cursor, position)
    length = _callee(cursor)
    if length == 0:
        return None
    form = _FORMS.get(token.upper) if length == 1 and token.kind is Kind.WORD else None
    if form is not None:
        cursor.advance()
        cursor.expect("(")
        found = form(cursor, token.upper, position)
        cursor.expect(")")
        return windows.clauses(cursor, found)
    quoted = length > 1 or token.kind is Kind.NAME
    name = ".".join(cursor.path("a function")) if quoted else cursor.advance().text
    return windows.clauses(cursor, _plain(cursor, name, quoted, position))


def _callee(cursor: Cursor) -> int:
    """Number of name parts in front of ``(``; 0 if it is no call."""
    if cursor.token.upper in RESERVED and cursor.token.upper not in (*_FORMS, "LEFT", "RIGHT"):
        return 0
    at, parts = 0, 0
    while cursor.ahead(at).kind in (Kind.WORD, Kind.NAME):
        parts += 1
        if cursor.ahead(at + 1).upper == "(":
            return parts
        if cursor.ahead(at + 1).upper != ".":
            return 0
        at += 2
    return 0


def _plain(cursor: Cursor, name: str, quoted: bool, position: Position) -> Call:
    cursor.expect("(")
    if cursor.accept("*"):
        cursor.expect(")")
        return Call(name, star=True, quoted=quoted, position=position)
    distinct = cursor.accept("DISTINCT")
    if not distinct:
        cursor.accept("ALL")
    args: tuple[Expr, ...] = ()
    if not cursor.at(")"):
        if cursor.ahead(1).upper == "=>":
            raise cursor.unsupported("a named argument of a scalar function", "Give the arguments in order.")
        args = cursor.listed(lambda: grammar.expression(cursor))
    if cursor.at_any("ORDER", "IGNORE", "RESPECT", "SEPARATOR"):
        raise cursor.unsupported(f"{cursor.token.upper} inside the parentheses of {name}", "Leave it out.")
    cursor.expect(")")
    return Call(name, args, distinct=distinct, quoted=quoted, position=position)


def _case(cursor: Cursor, position: Position) -> Expr:
    cursor.expect("CASE")
    subject = None if cursor.at("WHEN") else grammar.expression(cursor)
    operands: list[Expr] = []
    while cursor.accept("WHEN"):
        operands.append(_test(cursor, subject))
        cursor.expect("THEN")
        operands.append(grammar.expression(cursor))
    if not operands:
        raise cursor.error("expected WHEN")
    operands.append(grammar.expression(cursor) if cursor.accept("ELSE") else literals.null(position))
    cursor.expect("END")
    return Call("CASE", tuple(operands), position=position)


def _test(cursor: Cursor, subject: Expr | None) -> Expr:
    if subject is None:
        return grammar.expression(cursor)
    values = cursor.listed(lambda: grammar.expression(cursor))
    tests = tuple(Call("=", (subject, value), position=value.position) for value in values)
    return tests[0] if len(tests) == 1 else Call("OR", tests, position=tests[0].position)


def _collection(cursor: Cursor, position: Position) -> Expr:
    name = cursor.advance().upper
    cursor.expect("[")
    members = () if cursor.at("]") else cursor.listed(lambda: grammar.expression(cursor))
    cursor.expect("]")
    return Call(name, members, position=position)


def _cast(cursor: Cursor, name: str, position: Position) -> Call:
    operand = grammar.expression(cursor)
    cursor.expect("AS")
    return Call(name, (operand,), result=parse_type(cursor), position=position)


def _row(cursor: Cursor, name: str, position: Position) -> Call:
    members = () if cursor.at(")") else cursor.listed(lambda: grammar.expression(cursor))
    return Call(name, members, position=position)


def _extract(cursor: Cursor, name: str, position: Position) -> Call:
    field = literals.symbol(cursor.identifier("a unit such as YEAR").upper(), position)
    cursor.expect("FROM")
    return Call(name, (field, grammar.expression(cursor)), position=position)


def _floor(cursor: Cursor, name: str, position: Position) -> Call:
    operands = [grammar.expression(cursor)]
    if cursor.accept("TO"):
        operands.append(literals.symbol(cursor.identifier("a unit such as DAY").upper(), position))
    return Call(name.replace("CEILING", "CEIL"), tuple(operands), position=position)


def _trim(cursor: Cursor, name: str, position: Position) -> Call:
    mode = cursor.advance().upper if cursor.at_any("BOTH", "LEADING", "TRAILING") else "BOTH"
    blank = literals.constant(" ", char(1), position)
    first: Expr = blank if cursor.at("FROM") else grammar.expression(cursor)
    if cursor.accept("FROM"):
        return Call(name, (literals.symbol(mode, position), first, grammar.expression(cursor)), position=position)
    if cursor.accept(","):
        chars = grammar.expression(cursor)
        return Call(name, (literals.symbol(mode, position), chars, first), position=position)
    return Call(name, (literals.symbol(mode, position), blank, first), position=position)


def _position(cursor: Cursor, name: str, position: Position) -> Call:
    part = grammar.additive(cursor)
    cursor.expect("IN")
    operands = [part, grammar.expression(cursor)]
    if cursor.accept("FROM"):
        operands.append(grammar.expression(cursor))
    return Call(name, tuple(operands), position=position)


def _parts(*words: str) -> Callable[[Cursor, str, Position], Call]:
    """Operands divided by words or by commas: SUBSTRING(a FROM b FOR c), OVERLAY(a PLACING b FROM c FOR d)."""

    def parse(cursor: Cursor, name: str, position: Position) -> Call:
        operands = [grammar.expression(cursor)]
        for word in words:
            if cursor.accept(word) or cursor.accept(","):
                operands.append(grammar.expression(cursor))
        return Call(name, tuple(operands), position=position)

    return parse


def _units(cursor: Cursor, name: str, position: Position) -> Call:
    unit = cursor.identifier("a unit such as DAY").upper().removeprefix("SQL_TSI_")
    cursor.expect(",")
    rest = cursor.listed(lambda: grammar.expression(cursor))
    return Call(name, (literals.symbol(unit, position), *rest), position=position)


def _subquery(cursor: Cursor, name: str, position: Position) -> Call:
    if query.at_query(cursor):
        raise cursor.unsupported(f"{name}(SELECT …)", "Aggregate with COLLECT or ARRAY_AGG.", position)
    raise cursor.error(f"expected [ behind {name}")


_FORMS: dict[str, Callable[[Cursor, str, Position], Call]] = {
    "CAST": _cast,
    "TRY_CAST": _cast,
    "ROW": _row,
    "EXTRACT": _extract,
    "FLOOR": _floor,
    "CEIL": _floor,
    "CEILING": _floor,
    "TRIM": _trim,
    "POSITION": _position,
    "SUBSTRING": _parts("FROM", "FOR"),
    "OVERLAY": _parts("PLACING", "FROM", "FOR"),
    "TIMESTAMPADD": _units,
    "TIMESTAMPDIFF": _units,
    "ARRAY": _subquery,
    "MULTISET": _subquery,
    **JSON_FORMS,
}
"""Functions with a syntax of their own, without their parentheses."""
