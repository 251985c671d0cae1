"""Texts taken apart: SPLIT, SPLIT_INDEX, STR_TO_MAP, PARSE_URL, and what a text consists of."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Call
from execnodes.core.types import BOOLEAN, STRING, TEXTS, array, map_of
from execnodes.functions.function import by_count, form, function
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal


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


def _lower_split_index(scope: Scope, call: Call) -> str:
    """Counts from 0; NULL beyond the parts. The separator may be the number of a character."""
    text, separator, index = scope.texts(call.operands)
    if call.operands[1].type.root not in TEXTS:
        separator = f"if({separator} BETWEEN 1 AND 255, chr({separator}), NULL)"
    return scope.share(text, lambda t: f"if({t} = '', NULL, get({_parts(t, separator)}, {index}))")


SPLIT_INDEX = function(
    "SPLIT_INDEX",
    form("TEXT, TEXT, INT", STRING, nullable=True),
    form("TEXT, INT, INT", STRING, nullable=True),
    sql=_lower_split_index,
)
STR_TO_MAP = function(
    "STR_TO_MAP",
    form("TEXT", map_of(STRING, STRING)),
    form("TEXT, TEXT, TEXT", map_of(STRING, STRING)),
    sql=by_count(
        "if({0} = '', CAST(map() AS {type}), str_to_map({0}, ',', '='))",
        "if({0} = '', CAST(map() AS {type}), str_to_map({0}, {1}, {2}))",
    ),
)
PARSE_URL = function(
    "PARSE_URL",
    form("TEXT, TEXT", STRING, nullable=True),
    form("TEXT, TEXT, TEXT", STRING, nullable=True),
    sql=by_count("try_parse_url({0}, {1})", "try_parse_url({0}, {1}, {2})"),
)
IS_ALPHA = function(
    "IS_ALPHA", form("TEXT", BOOLEAN, nullable=False), sql="coalesce(rlike({0}, '^\\\\p{{L}}+$'), FALSE)"
)
IS_DIGIT = function(
    "IS_DIGIT", form("TEXT", BOOLEAN, nullable=False), sql="coalesce(rlike({0}, '^\\\\p{{Nd}}+$'), FALSE)"
)
IS_DECIMAL = function("IS_DECIMAL", form("TEXT", BOOLEAN, nullable=False), sql="(CAST({0} AS DOUBLE) IS NOT NULL)")
_DIGITS = r"([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?"
_HEXADECIMAL = r"0[xX]([0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+"
_NUMBER = rf"^([+-]?\p{{Nd}}{{1,18}}|[\x00-\x20]*[+-]?(NaN|Infinity|({_DIGITS}|{_HEXADECIMAL})[fFdD]?)[\x00-\x20]*)$"
# Version 1 takes what Spark casts: also 'inf', 'nan' and 'infinity' in any case, but no digits of other scripts.
IS_DECIMAL_2 = replace(
    function(
        "IS_DECIMAL",
        form("TEXT", BOOLEAN, nullable=False),
        sql=lambda scope, call: f"coalesce(rlike({scope.text(call.operands[0])}, {text_literal(_NUMBER)}), FALSE)",
    ),
    version=2,
    since="1.2",
)
URL_ENCODE = function("URL_ENCODE", form("TEXT", STRING, nullable=True), sql="url_encode({0})")
URL_DECODE = function("URL_DECODE", form("TEXT", STRING, nullable=True), sql="try_url_decode({0})")
