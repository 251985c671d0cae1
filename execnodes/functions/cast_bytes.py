"""CAST and TRY_CAST since 2.2: bytes become a text whose characters are whole, also where they are members."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.types import STRING, TEXTS, LogicalType
from execnodes.functions.cast_java import cast_java
from execnodes.functions.cast_texts import print_text, print_value
from execnodes.functions.cast_whole import lower_by
from execnodes.functions.casts import CAST, TRY_CAST
from execnodes.functions.conversion import holds_bytes
from execnodes.functions.scope import Scope


def _cast(scope: Scope, text: str, source: LogicalType, target: LogicalType, strict: bool) -> str:
    """Version 4 gave a text of any bytes; those that are no characters are the replacement character, as in Java."""
    if target.root in TEXTS and holds_bytes(source):
        return print_value(scope, f"make_valid_utf8({print_text(scope, text, source)})", STRING, target)
    return cast_java(scope, text, source, target, strict, _cast)


CAST_5 = replace(CAST, lower=lower_by(_cast, strict=True), version=5, since="2.2")
TRY_CAST_5 = replace(TRY_CAST, lower=lower_by(_cast, strict=False), version=5, since="2.2")
