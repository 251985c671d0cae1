"""CAST and TRY_CAST since 2.0: texts are numbers and timestamps only as Java writes them."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.types import NESTED, NUMERICS, TEXTS, TIMESTAMPS, LogicalType
from execnodes.functions.cast_whole import Cast, cast_leaf, lower_by
from execnodes.functions.casts import CAST, TRY_CAST
from execnodes.functions.read_numbers import read_number
from execnodes.functions.scope import Scope
from execnodes.lowering.spark_sql import text_literal

_ENDS_A_LINE = text_literal(r"[\n\r\x{85}\x{2028}\x{2029}]\z")


def _cast(scope: Scope, text: str, source: LogicalType, target: LogicalType, strict: bool) -> str:
    return cast_java(scope, text, source, target, strict, _cast)


def cast_java(scope: Scope, text: str, source: LogicalType, target: LogicalType, strict: bool, cast: Cast) -> str:
    """Spark SQL of `text` cast by version 4, its members by `cast`.

    Version 3 took tabs around whole numbers, ``inf``, and a line break behind a timestamp.
    """
    if source.root in NESTED or source.root not in TEXTS:
        return cast_leaf(scope, text, source, target, strict, cast)
    if target.root in NUMERICS:
        return read_number(scope, text, source, target, strict)
    if target.root in TIMESTAMPS:

        def read(t: str) -> str:
            ended = f"if(rlike({t}, {_ENDS_A_LINE}), concat({t}, '?'), {t})"
            return cast_leaf(scope, ended, source, target, strict, cast)

        return scope.share(text, read)
    return cast_leaf(scope, text, source, target, strict, cast)


CAST_4 = replace(CAST, lower=lower_by(_cast, strict=True), version=4, since="2.0")
TRY_CAST_4 = replace(TRY_CAST, lower=lower_by(_cast, strict=False), version=4, since="2.0")
