"""Canonical JSON text of kernel values, as nested values are written inside kernels."""

from __future__ import annotations

import polars as pl

from execnodes.core.types import BINARIES, NESTED, TEXTS, LogicalType, Root

_HEAD = '{"v":'


def json_text(value: pl.Expr, t: LogicalType) -> pl.Expr:
    """Text of a value of type `t`; NULL stays NULL."""
    root = t.root
    if root in NESTED:
        return value
    if root in TEXTS:
        return quoted(value)
    if root in BINARIES:
        return _in_quotes(value.bin.encode("base64"))
    if root is Root.DECIMAL and t.precision > 18:
        return _in_quotes(value.cast(pl.String))
    if root in (Root.FLOAT, Root.DOUBLE):
        wide = value.cast(pl.Float64)
        odd = pl.when(wide.is_nan()).then(pl.lit('"NaN"')).when(wide > 0).then(pl.lit('"Infinity"'))
        text = pl.when(wide.is_finite()).then(wide.cast(pl.String)).otherwise(odd.otherwise(pl.lit('"-Infinity"')))
        return pl.when(value.is_not_null()).then(text)
    return value.cast(pl.Int64).cast(pl.String)


def quoted(value: pl.Expr) -> pl.Expr:
    """A text as a JSON string; NULL stays NULL."""
    encoded = pl.struct(v=value).struct.json_encode()
    return pl.when(value.is_not_null()).then(encoded.str.slice(len(_HEAD)).str.head(-1))


def _in_quotes(text: pl.Expr) -> pl.Expr:
    return pl.lit('"') + text + pl.lit('"')
