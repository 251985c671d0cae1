"""How texts are read as numbers since 2.0: without what Spark takes beside Java's notation.

Whole numbers have no blanks around but spaces, NaN and Infinity are written so, and digits are those of ASCII.
"""

from __future__ import annotations

from execnodes.core.types import INTEGERS, LogicalType, Root
from execnodes.functions.cast_numbers import checked, to_number
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import spark_type, text_literal

_SPACED = text_literal(r"^ *[^\x00-\x20](?s:.*[^\x00-\x20])? *\z")
_WORDS = text_literal("(?i)nan|inf")
_JAVA_WORDS = text_literal(r"^[\x00-\x20]*[+-]?(?:NaN|Infinity)[\x00-\x20]*\z")
_NO_DIGITS = text_literal(r"^[ \n\t]*[+-][ \n\t]*\z|[^\x00-\x7f]")
_SHORT = 18
"""Digits of a DECIMAL that Flink reads by itself; longer ones are a BigDecimal to it, and to Spark."""


def read_number(scope: Scope, text: str, source: LogicalType, target: LogicalType, strict: bool) -> str:
    """A text as a number of any type; else NULL, or a failure if `strict`."""

    def body(t: str) -> str:
        made = f"if({_is_java(t, target)}, {to_number(scope, t, source, target, False)}, NULL)"
        return checked(scope, t, made, str(target.with_nullable(True)), spark_type(target)) if strict else made

    return scope.share(text, body)


def _is_java(text: str, target: LogicalType) -> str:
    if target.root in INTEGERS:
        return f"rlike({text}, {_SPACED})"
    if target.root is Root.DECIMAL:
        return f"NOT rlike({text}, {_NO_DIGITS})" if target.precision <= _SHORT else "TRUE"
    return f"(NOT rlike({text}, {_WORDS}) OR rlike({text}, {_JAVA_WORDS}))"
