"""The SQL/JSON functions: their keywords become operands, in the order of the functions' definitions."""

from __future__ import annotations

from collections.abc import Callable

from execnodes.core.errors import Position
from planner.grammar import expressions as grammar
from planner.grammar import literals
from planner.grammar.cursor import Cursor
from planner.grammar.types import parse_type
from planner.syntax import Call, Expr


def _document(cursor: Cursor) -> tuple[Expr, Expr]:
    document = grammar.expression(cursor)
    cursor.expect(",")
    return document, grammar.expression(cursor)


def _value(cursor: Cursor, name: str, position: Position) -> Call:
    """(document, path, on empty, default, on error, default)."""
    document, path = _document(cursor)
    result = parse_type(cursor) if cursor.accept("RETURNING") else None
    behaviour: dict[str, tuple[str, Expr]] = {
        "EMPTY": ("NULL", literals.null(position)),
        "ERROR": ("NULL", literals.null(position)),
    }
    while cursor.at_any("NULL", "ERROR", "DEFAULT"):
        word = cursor.advance().upper
        default = grammar.expression(cursor) if word == "DEFAULT" else literals.null(position)
        behaviour[_on(cursor, "EMPTY", "ERROR")] = (word, default)
    operands: list[Expr] = [document, path]
    for word, default in behaviour.values():
        operands += [literals.symbol(word, position), default]
    return Call(name, tuple(operands), result=result, position=position)


def _query(cursor: Cursor, name: str, position: Position) -> Call:
    """(document, path, wrapper, on empty, on error)."""
    document, path = _document(cursor)
    result = parse_type(cursor) if cursor.accept("RETURNING") else None
    wrapper = _wrapper(cursor)
    behaviour = {"EMPTY": "NULL", "ERROR": "NULL"}
    while cursor.at_any("NULL", "ERROR", "EMPTY"):
        word = cursor.advance().upper
        if word == "EMPTY":
            if not cursor.at_any("ARRAY", "OBJECT"):
                raise cursor.error("expected ARRAY or OBJECT behind EMPTY")
            word = f"EMPTY {cursor.advance().upper}"
        behaviour[_on(cursor, "EMPTY", "ERROR")] = word
    symbols = (literals.symbol(word, position) for word in (wrapper, *behaviour.values()))
    return Call(name, (document, path, *symbols), result=result, position=position)


def _wrapper(cursor: Cursor) -> str:
    if cursor.accept("WITHOUT"):
        cursor.accept("ARRAY")
        cursor.expect("WRAPPER")
        return "WITHOUT"
    if not cursor.accept("WITH"):
        return "WITHOUT"
    kind = "CONDITIONAL" if cursor.accept("CONDITIONAL") else "UNCONDITIONAL"
    cursor.accept("UNCONDITIONAL")
    cursor.accept("ARRAY")
    cursor.expect("WRAPPER")
    return kind


def _exists(cursor: Cursor, name: str, position: Position) -> Call:
    """(document, path, on error)."""
    document, path = _document(cursor)
    behaviour = "FALSE"
    if cursor.at_any("TRUE", "FALSE", "UNKNOWN", "ERROR"):
        behaviour = cursor.advance().upper
        _on(cursor, "ERROR")
    return Call(name, (document, path, literals.symbol(behaviour, position)), position=position)


def _on(cursor: Cursor, *events: str) -> str:
    cursor.expect("ON")
    if not cursor.at_any(*events):
        raise cursor.error(f"expected {' or '.join(events)} behind ON")
    return cursor.advance().upper


def _on_null(cursor: Cursor, default: str) -> str:
    if not (cursor.at_any("NULL", "ABSENT") and cursor.ahead(1).upper == "ON"):
        return default
    word = cursor.advance().upper
    cursor.expect("ON", "NULL")
    return word


def _pair(cursor: Cursor) -> tuple[Expr, Expr]:
    if cursor.at("KEY") and cursor.ahead(1).upper not in (":", "VALUE", ",", ".", "("):
        cursor.advance()
    key = grammar.expression(cursor)
    if not cursor.accept("VALUE"):
        cursor.expect(":")
    return key, grammar.expression(cursor)


def _object(cursor: Cursor, name: str, position: Position) -> Call:
    """(on null, key, value, …)."""
    pairs = () if cursor.at(")") or _at_on_null(cursor) else cursor.listed(lambda: _pair(cursor))
    on_null = literals.symbol(_on_null(cursor, "NULL"), position)
    return Call(name, (on_null, *(each for pair in pairs for each in pair)), position=position)


def _array(cursor: Cursor, name: str, position: Position) -> Call:
    """(on null, value, …)."""
    members = () if cursor.at(")") or _at_on_null(cursor) else cursor.listed(lambda: grammar.expression(cursor))
    return Call(name, (literals.symbol(_on_null(cursor, "ABSENT"), position), *members), position=position)


def _at_on_null(cursor: Cursor) -> bool:
    return cursor.at("NULL", "ON", "NULL") or cursor.at("ABSENT", "ON", "NULL")


def _object_aggregate(cursor: Cursor, name: str, position: Position) -> Call:
    pair = _pair(cursor)
    return Call(name, pair, options=(("onNull", _on_null(cursor, "NULL")),), position=position)


def _array_aggregate(cursor: Cursor, name: str, position: Position) -> Call:
    member = grammar.expression(cursor)
    return Call(name, (member,), options=(("onNull", _on_null(cursor, "ABSENT")),), position=position)


JSON_FORMS: dict[str, Callable[[Cursor, str, Position], Call]] = {
    "JSON_VALUE": _value,
    "JSON_QUERY": _query,
    "JSON_EXISTS": _exists,
    "JSON_OBJECT": _object,
    "JSON_ARRAY": _array,
    "JSON_OBJECTAGG": _object_aggregate,
    "JSON_ARRAYAGG": _array_aggregate,
}
