"""Formats, found by walking this folder. One module a format, called as its identifier (``-`` written ``_``)."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from inspect import getmembers, isclass

from execnodes.connectors import own_formats
from execnodes.core.errors import ConnectorError
from rekindle.connectors.format import Format


@lru_cache(maxsize=16)
def format_of(identifier: str) -> Format | None:
    """The format of that name, whose module is called the same; None if there is none."""
    if identifier not in own_formats():
        return None
    module = import_module(f"{__name__}.{own_formats()[identifier]}")
    classes = (member for _, member in getmembers(module, isclass) if member.__module__ == module.__name__)
    return next(each() for each in classes if issubclass(each, Format))


def formats() -> Mapping[str, Format]:
    """All formats by identifier."""
    found = ((identifier, format_of(identifier)) for identifier in sorted(own_formats()))
    return {identifier: each for identifier, each in found if each is not None}


def find_format(identifier: str, table: str) -> Format:
    """The format of that name; ConnectorError with what exists if there is none."""
    found = format_of(identifier)
    if found is not None:
        return found
    known = sorted(own_formats())
    near = difflib.get_close_matches(identifier, known, n=2)
    guess = f"Did you mean {' or '.join(near)}? " if near else ""
    what = f"unknown format {identifier!r}" if identifier else "the table has no 'format' option"
    raise ConnectorError(
        what, where=f"table {table}", hint=f"{guess}Formats: {', '.join(known)}. {_others(identifier)}"
    )


def _others(identifier: str) -> str:
    """The way to what Spark reads and writes besides."""
    name = identifier if re.fullmatch(r"[A-Za-z][\w.]*", identifier) else "…"
    return f"Others that Spark has (avro, orc, text, …): 'connector' = 'spark', 'spark.format' = '{name}'."
