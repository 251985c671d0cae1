"""Values as they are compared where rows are: what SQL's = calls equal is one value, and a zero has no sign.

Polars finds 0.0 and -0.0 equal, and a NaN equal to a NaN; but a key is shown, and nested values are texts.
"""

from __future__ import annotations

import re

import polars as pl

from execnodes.core.predicates import FLOATS, holds_floats
from execnodes.core.types import NESTED, LogicalType

_SIGNED = "-0.0"
_TOKEN = re.compile(r'("(?:[^"\\]|\\.)*")|-0\.0(?=[,\]}])', re.DOTALL)
"""A string, or a negative zero outside of strings, of a JSON text of slots."""


def drop_zero_signs(t: LogicalType, value: pl.Expr) -> pl.Expr:
    """Return a value of a kernel with 0.0 in place of -0.0, in nested ones too; other values stay as they are."""
    if t.root in FLOATS:
        return pl.when(value == 0).then(value.abs()).otherwise(value)
    if t.root in NESTED and holds_floats(t):
        return value.map_batches(_in_texts, return_dtype=pl.String())
    return value


def _in_texts(texts: pl.Series) -> pl.Series:
    if not texts.str.contains(_SIGNED, literal=True).any():
        return texts
    return pl.Series(texts.name, [each and _in_text(each) for each in texts], dtype=pl.String())


def _in_text(text: str) -> str:
    return _TOKEN.sub(lambda token: token[1] or "0.0", text) if _SIGNED in text else text
