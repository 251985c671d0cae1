"""Expressions, from OR down to literals, with Calcite's precedence."""

from __future__ import annotations

from collections.abc import Callable

from execnodes.core import types as t
from execnodes.core.errors import Position, SqlError
from execnodes.core.types import INTERVALS, NUMERICS
from planner.grammar import literals, query
from planner.grammar.cursor import RESERVED, Cursor
from planner.grammar.functions import function
from planner.grammar.lexer import Kind
from planner.syntax import Access, Call, Constant, ExistsQuery, Expr, InQuery, Name, ScalarQuery, Star

_COMPARISONS = ("=", "<>", "!=", "<", "<=", ">", ">=")
_TRUTHS = ("NULL", "TRUE", "FALSE", "UNKNOWN")


def expression(cursor: Cursor) -> Expr:
    """Any expression."""
    return _chain(cursor, "OR", lambda: _chain(cursor, "AND", lambda: _negation(cursor)))


def _chain(cursor: Cursor, word: str, parse: Callable[[], Expr]) -> Expr:
    position, operands = cursor.here, [parse()]
    while cursor.accept(word):
        operands.append(parse())
    return Call(word, tuple(operands), position=position) if len(operands) > 1 else operands[0]


def _negation(cursor: Cursor) -> Expr:
    position = cursor.here
    if cursor.accept("NOT"):
        return Call("NOT", (_negation(cursor),), position=position)
    return _predicate(cursor)


def _predicate(cursor: Cursor) -> Expr:
    position, left = cursor.here, additive(cursor)
    while True:
        if cursor.at_any(*_COMPARISONS):
            name = cursor.advance().upper.replace("!=", "<>")
            if cursor.at_any("ANY", "SOME", "ALL") and cursor.ahead(1).upper == "(":
                raise cursor.unsupported(f"{name} {cursor.token.upper}", "Write IN or EXISTS with a subquery.")
            left = Call(name, (left, additive(cursor)), position=position)
        elif cursor.accept("IS"):
            left = _is(cursor, left, position)
        elif cursor.accept("OVERLAPS"):
            left = _overlaps(cursor, left, position)
        elif cursor.at_any("IN", "BETWEEN", "LIKE", "SIMILAR"):
            left = _range(cursor, left, position)
        elif cursor.at("NOT") and cursor.ahead(1).upper in ("IN", "BETWEEN", "LIKE", "SIMILAR"):
            cursor.advance()
            left = _not(_range(cursor, left, position))
        else:
            return left


def _not(found: Expr) -> Expr:
    if isinstance(found, InQuery):
        return InQuery(found.values, found.query, True, position=found.position)
    if isinstance(found, Call) and found.name == "IN":
        return Call("NOT IN", found.args, position=found.position)
    return Call("NOT", (found,), position=found.position)


def _is(cursor: Cursor, left: Expr, position: Position) -> Expr:
    negation = "NOT " if cursor.accept("NOT") else ""
    if cursor.accept("DISTINCT", "FROM"):
        return Call(f"IS {negation}DISTINCT FROM", (left, additive(cursor)), position=position)
    if cursor.accept("JSON"):
        kind = cursor.advance().upper if cursor.at_any("VALUE", "OBJECT", "ARRAY", "SCALAR") else "VALUE"
        found = Call("IS JSON", (left, literals.symbol(kind, position)), position=position)
        return Call("NOT", (found,), position=position) if negation else found
    if cursor.at_any(*_TRUTHS):
        return Call(f"IS {negation}{cursor.advance().upper}", (left,), position=position)
    raise cursor.error("expected NULL, TRUE, FALSE, UNKNOWN, DISTINCT FROM or JSON behind IS")


def _overlaps(cursor: Cursor, left: Expr, position: Position) -> Expr:
    bounds: list[Expr] = []
    for period in (left, additive(cursor)):
        if not (isinstance(period, Call) and period.name == "ROW" and len(period.args) == 2):
            raise SqlError(
                "OVERLAPS takes two periods", position=position, hint="Write (begin, end) OVERLAPS (begin, end)."
            )
        bounds += period.args
    return Call("OVERLAPS", tuple(bounds), position=position)


def _range(cursor: Cursor, left: Expr, position: Position) -> Expr:
    if cursor.accept("IN"):
        return _in(cursor, left, position)
    if cursor.accept("BETWEEN"):
        symmetric = cursor.accept("SYMMETRIC")
        cursor.accept("ASYMMETRIC")
        low = additive(cursor)
        cursor.expect("AND")
        name = "BETWEEN SYMMETRIC" if symmetric else "BETWEEN"
        return Call(name, (left, low, additive(cursor)), position=position)
    name = "LIKE" if cursor.accept("LIKE") else "SIMILAR TO"
    if name == "SIMILAR TO":
        cursor.expect("SIMILAR", "TO")
    operands = [left, additive(cursor)]
    if cursor.accept("ESCAPE"):
        operands.append(additive(cursor))
    return Call(name, tuple(operands), position=position)


def _in(cursor: Cursor, left: Expr, position: Position) -> Expr:
    if not cursor.at("("):
        raise cursor.error("expected ( behind IN")
    if query.at_query(cursor, 1):
        cursor.expect("(")
        inner = query.query(cursor)
        cursor.expect(")")
        values = left.args if isinstance(left, Call) and left.name == "ROW" else (left,)
        return InQuery(values, inner, False, position=position)
    return Call("IN", (left, *cursor.parenthesised(lambda: expression(cursor))), position=position)


def additive(cursor: Cursor) -> Expr:
    """Sums; also the operands of a comparison."""
    position, left = cursor.here, _product(cursor)
    while cursor.at_any("+", "-"):
        left = Call(cursor.advance().upper, (left, _product(cursor)), position=position)
    return left


def _product(cursor: Cursor) -> Expr:
    position, left = cursor.here, _unary(cursor)
    while cursor.at_any("*", "/", "%", "||"):
        left = Call(cursor.advance().upper, (left, _unary(cursor)), position=position)
    return left


def _unary(cursor: Cursor) -> Expr:
    position = cursor.here
    if cursor.accept("-"):
        operand = _unary(cursor)
        if isinstance(operand, Constant) and operand.literal.type.root in (*NUMERICS, *INTERVALS):
            return literals.negated(operand.literal, position)
        return Call("MINUS_PREFIX", (operand,), position=position)
    if cursor.accept("+"):
        return _unary(cursor)
    return _postfix(cursor)


def _postfix(cursor: Cursor) -> Expr:
    position, found = cursor.here, _primary(cursor)
    while True:
        if cursor.accept("["):
            found = Call("ITEM", (found, expression(cursor)), position=position)
            cursor.expect("]")
        elif cursor.at(".") and not isinstance(found, Name | Star):
            cursor.advance()
            found = Access(found, cursor.identifier("a field's name"), position=position)
        else:
            return found


def _primary(cursor: Cursor) -> Expr:
    token, position = cursor.token, cursor.here
    if token.kind is Kind.NUMBER:
        return literals.number(cursor)
    if token.kind is Kind.TEXT:
        text = "".join(_adjacent(cursor))
        return literals.constant(text, t.char(len(text)), position)
    if token.kind is Kind.BINARY:
        digits = cursor.advance().text
        return literals.constant(digits, t.LogicalType(t.Root.BINARY, length=len(digits) // 2), position)
    if token.kind is Kind.MARK:
        return _marked(cursor)
    if token.kind is Kind.END:
        raise cursor.error("expected an expression")
    if token.kind is Kind.WORD:
        if literals.at_temporal(cursor):
            return literals.temporal(cursor)
        if token.upper == "INTERVAL" and (
            cursor.ahead(1).kind in (Kind.TEXT, Kind.NUMBER) or cursor.ahead(1).text in "+-"
        ):
            return literals.interval(cursor)
        if token.upper in ("NULL", "TRUE", "FALSE", "UNKNOWN"):
            return _truth(cursor)
        if token.upper == "EXISTS" and cursor.ahead(1).upper == "(":
            cursor.advance()
            return ExistsQuery(query.parenthesised(cursor), position=position)
        special = function(cursor)
        if special is not None:
            return special
        if token.upper in RESERVED:
            raise cursor.error("expected an expression", f"{token.text} is reserved; as a name write it in backticks.")
    return _name(cursor)


def _adjacent(cursor: Cursor) -> list[str]:
    found = [cursor.advance().text]
    while cursor.token.kind is Kind.TEXT:
        found.append(cursor.advance().text)
    return found


def _marked(cursor: Cursor) -> Expr:
    position = cursor.here
    if cursor.accept("*"):
        return Star(position=position)
    if not cursor.at("("):
        raise cursor.error("expected an expression")
    if query.at_query(cursor, 1):
        return ScalarQuery(query.parenthesised(cursor), position=position)
    members = cursor.parenthesised(lambda: expression(cursor))
    return members[0] if len(members) == 1 else Call("ROW", members, position=position)


def _truth(cursor: Cursor) -> Expr:
    position, word = cursor.here, cursor.advance().upper
    if word == "NULL":
        return literals.null(position)
    if word == "UNKNOWN":
        return Call("CAST", (literals.null(position),), result=t.BOOLEAN, position=position)
    return literals.constant(word == "TRUE", t.BOOLEAN, position)


def _name(cursor: Cursor) -> Expr:
    position, parts = cursor.here, [cursor.identifier("a column")]
    while cursor.at("."):
        cursor.advance()
        if cursor.accept("*"):
            return Star(tuple(parts), position=position)
        parts.append(cursor.identifier("a column or field"))
    return Name(tuple(parts), position=position)
