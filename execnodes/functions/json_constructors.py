"""JSON_OBJECT, JSON_ARRAY, JSON_STRING, JSON_QUOTE and JSON_UNQUOTE.

The first operand of ``JSON_OBJECT`` (symbol, key, value, key, value, …) and of ``JSON_ARRAY`` (symbol, value, …) says
what becomes of NULLs: NULL keeps them, ABSENT leaves them out.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, Literal
from execnodes.core.types import BINARIES, INTEGERS, STRING, TEXTS, TIMESTAMPS, LogicalType, Root
from execnodes.functions.cast_texts import print_text
from execnodes.functions.function import Binding, Function, Invocation, Lower, Operands, form, function
from execnodes.functions.json_paths import parsed, unmarked
from execnodes.functions.json_values import quoted, written, written_short
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

_RAW = ("$JSON_OBJECT$", "$JSON_ARRAY$", "$JSON$")
"""Functions whose result is JSON already."""


def _bind(call: Invocation) -> Binding | None:
    """Symbol first, then values; of an object keys are constants."""
    if not call.operands or _symbol(call.operands[0]) not in ("NULL", "ABSENT"):
        return None
    symbol, *rest = call.operands
    if call.name == "JSON_OBJECT":
        keys = rest[::2]
        if len(rest) % 2 or any(not isinstance(k, Literal) or k.type.root not in TEXTS for k in keys):
            return None
    return Binding((symbol, *rest), STRING.not_null())


def _symbol(operand: Expression) -> str:
    return _key(operand).upper()


Write = Callable[[Scope, str, LogicalType], str]
"""JSON of what a text in Spark SQL gives, of a type."""


def _value(scope: Scope, operand: Expression, write: Write) -> str:
    """JSON of a value; NULL if it is NULL."""
    text = scope.text(operand)
    if isinstance(operand, Call) and operand.internal_name.startswith(_RAW):
        return text
    return write(scope, text, operand.type)


def _written_1(scope: Scope, text: str, t: LogicalType) -> str:
    """Versions 1 wrote times and bytes as CAST does, and numbers as Java's Double prints them."""
    if t.root in (*INTEGERS, Root.DOUBLE, Root.FLOAT, Root.BOOLEAN):
        return f"CAST({text} AS STRING)"
    if t.root is Root.DECIMAL:
        return print_text(scope, text, t)
    if t.root is Root.NULL:
        return "CAST(NULL AS STRING)"
    if t.root in (Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW):
        return f"to_json({text}, map('ignoreNullFields', 'false'))"
    value = text if t.root in TEXTS else print_text(scope, text, t)
    return scope.share(value, quoted)


def _member(scope: Scope, symbol: Expression, value: Expression, write: Write, key: str = "") -> str:
    text = _value(scope, value, write)
    if _symbol(symbol) == "NULL":
        text = f"coalesce({text}, 'null')"
    return f"concat({key}, {text})" if key else text


def _lower_object(write: Write) -> Lower:
    """Keys are sorted; of equal ones the last counts."""

    def lower(scope: Scope, call: Call) -> str:
        symbol, *rest = call.operands
        pairs = {_key(key): value for key, value in zip(rest[::2], rest[1::2], strict=True)}
        members = [
            _member(scope, symbol, pairs[name], write, text_literal(json.dumps(name, ensure_ascii=False) + ":"))
            for name in sorted(pairs, key=lambda each: each.encode("utf-16-be"))
        ]
        return f"concat('{{', {_listed(members)}, '}}')"

    return lower


def _key(operand: Expression) -> str:
    return str(operand.value) if isinstance(operand, Literal) else ""


def _listed(members: list[str]) -> str:
    """Members with commas between them, without those that are NULL."""
    return "concat_ws(" + ", ".join(["','", *members]) + ")"


def _lower_array(write: Write) -> Lower:
    def lower(scope: Scope, call: Call) -> str:
        symbol, *values = call.operands
        members = [_member(scope, symbol, each, write) for each in values]
        return f"concat('[', {_listed(members)}, ']')"

    return lower


_CHANGED = (Root.FLOAT, Root.DOUBLE, *TIMESTAMPS, *BINARIES, Root.ARRAY, Root.MAP, Root.MULTISET, Root.ROW)


def _otherwise(operands: Operands) -> bool:
    """Whether there are values of a type that versions 1 wrote in another way."""
    return any(
        each.type.root in _CHANGED or (each.type.root is Root.DECIMAL and each.type.scale > 6) for each in operands
    )


_OBJECT = ("JSON_OBJECT('key' VALUE ANY, … [… ON NULL])",)
_ARRAY = ("JSON_ARRAY(ANY, … [… ON NULL])",)
JSON_OBJECT = Function("JSON_OBJECT", _OBJECT, _bind, _lower_object(_written_1))
JSON_ARRAY = Function("JSON_ARRAY", _ARRAY, _bind, _lower_array(_written_1))
JSON_OBJECT_2 = Function("JSON_OBJECT", _OBJECT, _bind, _lower_object(written), 2, "1.3", only=_otherwise)
JSON_ARRAY_2 = Function("JSON_ARRAY", _ARRAY, _bind, _lower_array(written), 2, "1.3", only=_otherwise)


def _has_fractions(operands: Operands) -> bool:
    """Whether there are timestamps with fractions, whose zeros at the end versions 2 wrote."""
    return any(_holds_fraction(each.type) for each in operands)


def _holds_fraction(t: LogicalType) -> bool:
    if t.root in TIMESTAMPS:
        return t.precision > 0
    return any(map(_holds_fraction, (*t.children, *(each.type for each in t.fields))))


JSON_OBJECT_3 = Function("JSON_OBJECT", _OBJECT, _bind, _lower_object(written_short), 3, "2.0", only=_has_fractions)


def _bind_keyed(call: Invocation) -> Binding | None:
    """As before, and keys may be any texts that cannot be NULL."""
    if not call.operands or _symbol(call.operands[0]) not in ("NULL", "ABSENT") or len(call.operands) % 2 == 0:
        return None
    keys = [each.type for each in call.operands[1::2]]
    if any(each.root not in TEXTS for each in keys):
        return None
    if any(each.nullable for each in keys):
        raise SqlError(
            "a key of JSON_OBJECT cannot be NULL", position=call.position, hint="Write COALESCE(key, '') for the key."
        )
    return Binding(call.operands, STRING.not_null())


def _has_keys(operands: Operands) -> bool:
    """Whether keys are those of each row."""
    return any(not isinstance(each, Literal) for each in operands[1::2])


def _lower_keyed(scope: Scope, call: Call) -> str:
    """By keys in the order of their UTF-16 units; of equal ones the last that has a member counts."""
    symbol, *rest = call.operands
    each, later, place = scope.fresh(), scope.fresh(), scope.fresh()
    pairs = (
        f"named_struct('o', encode({text}, 'UTF-16BE'), 'm', {_member(scope, symbol, value, written_short, written)})"
        for text, written, value in (
            (scope.text(key), f"concat({scope.share(scope.text(key), quoted)}, ':')", value)
            for key, value in zip(rest[::2], rest[1::2], strict=True)
        )
    )
    there = f"filter(array({', '.join(pairs)}), {each} -> {each}.m IS NOT NULL)"

    def last(members: str) -> str:
        behind = f"exists(slice({members}, {place} + 2, size({members})), {later} -> {later}.o = {each}.o)"
        kept = f"array_sort(filter({members}, ({each}, {place}) -> NOT {behind}))"
        return f"array_join(transform({kept}, {each} -> {each}.m), ',')"

    return f"concat('{{', {scope.share(there, last)}, '}}')"


JSON_OBJECT_4 = Function(
    "JSON_OBJECT", ("JSON_OBJECT(TEXT VALUE ANY, … [… ON NULL])",), _bind_keyed, _lower_keyed, 4, "2.1", only=_has_keys
)
JSON_ARRAY_3 = Function("JSON_ARRAY", _ARRAY, _bind, _lower_array(written_short), 3, "2.0", only=_has_fractions)


def _lower_string(write: Write) -> Lower:
    return lambda scope, call: _value(scope, call.operands[0], write)


JSON_STRING = function("JSON_STRING", form("ANY", STRING), sql=_lower_string(_written_1))
JSON_STRING_2 = function(
    "JSON_STRING", form("ANY", STRING), sql=_lower_string(written), version=2, since="1.3", only=_otherwise
)
JSON_STRING_3 = function(
    "JSON_STRING", form("ANY", STRING), sql=_lower_string(written_short), version=3, since="2.0", only=_has_fractions
)


def _lower_json(document: str) -> Lower:
    """A document without what is between its parts, by a text of its VARIANT; a text that is none fails."""

    def lower(scope: Scope, call: Call) -> str:
        wrong = scope.failure("JSON: no document of JSON: ", scope.text(call.operands[0]))
        return scope.share(
            scope.text(call.operands[0]),
            lambda doc: f"if({doc} IS NULL, NULL, coalesce({unmarked(document.format(parsed(doc)))}, {wrong}))",
        )

    return lower


JSON = function("JSON", form("TEXT", STRING), sql=_lower_json("CAST({} AS STRING)"), since="1.3")


def _lower_json_2(scope: Scope, call: Call) -> str:
    blank = f"rlike({scope.text(call.operands[0])}, '^\\\\s*$')"
    return f"if({blank}, CAST(NULL AS STRING), {_lower_json('to_json({})')(scope, call)})"


# Version 1 failed for a blank text; a document that is one number or text had a mark in front, and no quotes.
JSON_2 = function("JSON", form("TEXT", STRING, nullable=True), sql=_lower_json_2, since="2.0", version=2)

_ESCAPED = {"0022": '"', "005C": "\\", "002F": "/", "0008": "b", "000C": "f", "000A": "n", "000D": "r", "0009": "t"}
"""UTF-16 units to what stands behind the backslash."""


def _lower_quote(scope: Scope, call: Call) -> str:
    """By UTF-16 units, as Java has them: those beyond ASCII are written as numbers."""
    unit = scope.fresh()
    units = f"regexp_extract_all(hex(encode({scope.text(call.operands[0])}, 'UTF-16BE')), '[0-9A-F]{{4}}', 0)"
    escaped = " ".join(f"WHEN '{code}' THEN {text_literal(chr(92) + by)}" for code, by in _ESCAPED.items())
    number = f"concat({text_literal(chr(92) + 'u')}, lower({unit}))"
    plain = f"if({unit} > '007F', {number}, chr(CAST(conv({unit}, 16, 10) AS INT)))"
    members = f"transform({units}, {unit} -> CASE {unit} {escaped} ELSE {plain} END)"
    return f"concat('\"', array_join({members}, ''), '\"')"


JSON_QUOTE = function("JSON_QUOTE", form("TEXT", STRING), sql=_lower_quote, since="1.3")
# What is no text of JSON stays as it is.
JSON_UNQUOTE = function(
    "JSON_UNQUOTE",
    form("TEXT", STRING),
    sql="if(rlike({0}, '(?s)^\".*\"$'), coalesce(CAST(try_parse_json({0}) AS STRING), {0}), {0})",
    since="1.3",
)
_ESCAPES = text_literal(r'\A(?:[^\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+\z')
_INNER_QUOTE = text_literal(r'(?s)\G((?:[^\\"]++|\\.)*+)"')
_QUOTED = text_literal(r'$1\\"')


def _lower_unquote(scope: Scope, call: Call) -> str:
    """What stands between quotes, its escapes resolved; a text with others stays. Quotes inside need no escape.

    Source: Flink's JsonUnquoteFunction.
    """

    def body(text: str) -> str:
        inner = f"substring({text}, 2, char_length({text}) - 2)"
        document = f"concat('[\"', regexp_replace({inner}, {_INNER_QUOTE}, {_QUOTED}), '\"]')"
        parsed_text = f"from_json({document}, 'array<string>')[0]"
        quoted = f"char_length({text}) > 1 AND {text} LIKE '\"%\"' AND rlike({inner}, {_ESCAPES})"
        return f"if({quoted}, coalesce({parsed_text}, {text}), {text})"

    return scope.share(scope.text(call.operands[0]), body)


# Version 1 read a document of JSON: of "a"b" it gave a.
JSON_UNQUOTE_2 = function("JSON_UNQUOTE", form("TEXT", STRING), sql=_lower_unquote, since="1.5", version=2)
