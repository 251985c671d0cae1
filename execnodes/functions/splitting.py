"""Texts taken apart: SPLIT, SPLIT_INDEX, STR_TO_MAP, PARSE_URL, and what a text consists of."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from execnodes.core.expressions import Call
from execnodes.core.types import BOOLEAN, INTEGERS, STRING, TEXTS, Root, array, map_of
from execnodes.functions.function import Lower, Operands, by_count, form, function, not_empty, template
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type, text_literal


def _parts(text: str, separator: str) -> str:
    return f"split({text}, concat('\\\\Q', {separator}, '\\\\E'), -1)"


def _lower_split(scope: Scope, call: Call) -> str:
    """An empty text has no parts; an empty separator gives characters."""
    text, separator = scope.texts(call.operands)
    return scope.share_some(
        (text, separator),
        [0, 1],
        lambda t: (
            f"CASE WHEN {t[0]} = '' THEN CAST(array() AS ARRAY<STRING>) WHEN {t[1]} = '' THEN split({t[0]}, '')"
            f" ELSE {_parts(t[0], t[1])} END"
        ),
    )


SPLIT = function("SPLIT", form("TEXT, TEXT", array(STRING)), sql=_lower_split)


def _lower_split_2(scope: Scope, call: Call) -> str:
    """NULL for a separator that is NULL; version 1 gave no parts for an empty text then."""
    separator = scope.text(call.operands[1])
    return f"if({separator} IS NULL, NULL, {_lower_split(scope, call)})"


SPLIT_2 = replace(SPLIT, lower=_lower_split_2, version=2, since="2.2", only=lambda t: t[1].type.nullable)


def _lower_split_index(scope: Scope, call: Call) -> str:
    """Counts from 0; NULL beyond the parts. The separator may be the number of a character."""
    text, separator, index = scope.texts(call.operands)
    if call.operands[1].type.root not in TEXTS:
        separator = f"if({separator} BETWEEN 1 AND 255, chr({separator}), NULL)"
    return scope.share(text, lambda t: f"if({t} = '', NULL, get({_parts(t, separator)}, {index}))")


_INDEXED = (
    form("TEXT, TEXT, INT", STRING, nullable=True),
    form("TEXT, INT, INT", STRING, nullable=True),
)
SPLIT_INDEX = function("SPLIT_INDEX", *_INDEXED, sql=_lower_split_index)


def _lower_split_index_2(scope: Scope, call: Call) -> str:
    """An empty separator means white space; version 1 took characters apart then."""
    if call.operands[1].type.root not in TEXTS:
        return _lower_split_index(scope, call)
    text, separator, index = scope.texts(call.operands)

    def body(t: Sequence[str]) -> str:
        shape = f"if({t[1]} = '', '\\\\s', concat('\\\\Q', {t[1]}, '\\\\E'))"
        return f"if({t[0]} = '', NULL, get(split({t[0]}, {shape}, -1), {index}))"

    return scope.share_some((text, separator), [0, 1], body)


SPLIT_INDEX_2 = function(
    "SPLIT_INDEX",
    *_INDEXED,
    sql=_lower_split_index_2,
    version=2,
    since="1.3",
    only=lambda t: t[1].type.root in TEXTS and not not_empty(t[1]),
)


def _never_null(operands: Operands) -> bool:
    return not any(each.type.nullable for each in operands)


# Version 1 gave NOT NULL for texts that are; the type is always nullable.
STR_TO_MAP, STR_TO_MAP_2 = (
    function(
        "STR_TO_MAP",
        form("TEXT", map_of(STRING, STRING), nullable=nullable),
        form("TEXT, TEXT, TEXT", map_of(STRING, STRING), nullable=nullable),
        sql=by_count(
            "if({0} = '', CAST(map() AS {type}), str_to_map({0}, ',', '='))",
            "if({0} = '', CAST(map() AS {type}), str_to_map({0}, {1}, {2}))",
        ),
        version=version,
        since=since,
        only=only,
    )
    for nullable, version, since, only in ((None, 1, "1.0", None), (True, 2, "1.3", _never_null))
)


def _lower_str_to_map(scope: Scope, call: Call) -> str:
    """Parts are split as by Java: those at the end that are empty are none, and an empty separator is before each
    character but the first. Version 2 kept them.
    """
    text, *separators = scope.texts(call.operands)
    of_pairs, of_values = separators or ("','", "'='")

    def pairs(parts: str) -> str:
        at, last, pair = scope.fresh(), scope.fresh(), scope.fresh()
        filled = (
            f"aggregate(sequence(1, size({parts})), 0, ({last}, {at}) -> if({parts}[{at} - 1] <> '', {at}, {last}))"
        )
        split = f"split({pair}, {of_values}, 2)"
        value = f"if({of_values} = '' AND char_length({pair}) = 1, '', get({split}, 1))"
        entries = f"transform(slice({parts}, 1, {filled}), {pair} -> named_struct('key', {split}[0], 'value', {value}))"
        return f"map_from_entries({entries})"

    def body(t: str) -> str:
        made = scope.share(f"split({t}, {of_pairs}, -1)", pairs)
        return f"if({t} = '', CAST(map() AS {spark_type(call.type)}), {made})"

    return scope.share(text, body)


STR_TO_MAP_3 = replace(STR_TO_MAP_2, lower=_lower_str_to_map, version=3, since="2.0", only=None)


def _lower_str_to_map_4(scope: Scope, call: Call) -> str:
    """NULL for a separator that is NULL; version 3 then ended the job."""
    missing = " OR ".join(f"{each} IS NULL" for each in scope.texts(call.operands[1:]))
    return f"if({missing}, NULL, {_lower_str_to_map(scope, call)})"


STR_TO_MAP_4 = replace(
    STR_TO_MAP_3,
    lower=_lower_str_to_map_4,
    version=4,
    since="2.2",
    only=lambda t: any(each.type.nullable for each in t[1:]),
)
PARSE_URL = function(
    "PARSE_URL",
    form("TEXT, TEXT", STRING, nullable=True),
    form("TEXT, TEXT, TEXT", STRING, nullable=True),
    sql=by_count("try_parse_url({0}, {1})", "try_parse_url({0}, {1}, {2})"),
)


def _tested(text: str, numbers: Collection[Root]) -> Lower:
    """What a text consists of; of numbers the type tells, NULL or not."""
    of_text = template(text)

    def lower(scope: Scope, call: Call) -> str:
        root = call.operands[0].type.root
        return of_text(scope, call) if root in TEXTS else str(root in numbers).upper()

    return lower


_TESTED = (form("TEXT", BOOLEAN, nullable=False), form("NUMERIC", BOOLEAN, nullable=False))
IS_ALPHA = function("IS_ALPHA", *_TESTED, sql=_tested("coalesce(rlike({0}, '^\\\\p{{L}}+$'), FALSE)", ()))
IS_DIGIT = function("IS_DIGIT", *_TESTED, sql=_tested("coalesce(rlike({0}, '^\\\\p{{Nd}}+$'), FALSE)", INTEGERS))
IS_DECIMAL = function("IS_DECIMAL", form("TEXT", BOOLEAN, nullable=False), sql="(CAST({0} AS DOUBLE) IS NOT NULL)")
_DIGITS = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_HEXADECIMAL = r"0[xX]([0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+"
_NUMBER = rf"^([+-]?\p{{Nd}}{{1,18}}|[\x00-\x20]*[+-]?(NaN|Infinity|({_DIGITS}|{_HEXADECIMAL})[fFdD]?)[\x00-\x20]*)$"
# Version 1 takes what Spark casts: also 'inf', 'nan' and 'infinity' in any case, but no digits of other scripts.
IS_DECIMAL_2 = replace(
    function(
        "IS_DECIMAL",
        *_TESTED,
        sql=_tested(
            f"coalesce(rlike({{0}}, {text_literal(_NUMBER).replace('{', '{{').replace('}', '}}')}), FALSE)",
            (*INTEGERS, Root.FLOAT, Root.DOUBLE),
        ),
    ),
    version=2,
    since="1.2",
)
URL_ENCODE = function("URL_ENCODE", form("TEXT", STRING, nullable=True), sql="url_encode({0})")
URL_DECODE = function("URL_DECODE", form("TEXT", STRING, nullable=True), sql="try_url_decode({0})")
