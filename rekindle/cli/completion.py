"""What may come next at the prompt, and whether a statement is whole."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING

from execnodes.core.errors import SqlError

if TYPE_CHECKING:
    from planner.catalog.catalogs import Catalog

_WORD = re.compile(r"[\w`]+$")
_KEY = re.compile(r"(?is)\b(?:re)?set\s+'([^']*)$")
_OF_TABLE = re.compile(r"(?is)\b(?:from|join|into|table|view|describe|desc|overwrite)\s+[\w`.]*$")
_CLOSERS = ("'", "`", "*/")


def is_complete(text: str) -> bool:
    """Whether a text ends with a whole statement: behind a semicolon, outside quotes, comments and statement sets."""
    from planner.parse import parse

    found = _words(text)
    if found is None:
        return all(_words(text + closer) is None for closer in _CLOSERS) and text.rstrip().endswith(";")
    if not found or found[-1] != ";":
        return False
    if not _in_set(found):
        return True
    try:
        return bool(parse(text))
    except SqlError:
        return False


def _words(text: str) -> list[str] | None:
    from planner.parse import words

    try:
        return words(text)
    except SqlError:
        return None


def _in_set(words: list[str]) -> bool:
    within = False
    for at in range(len(words)):
        if words[at : at + 3] in (["STATEMENT", "SET", "BEGIN"], ["BEGIN", "STATEMENT", "SET"]):
            within = True
        elif words[at : at + 3] == [";", "END", ";"]:
            within = False
    return within


def candidates(text: str, catalog: Catalog) -> Iterator[tuple[str, int, str]]:
    """What may stand in place of the word before the cursor: the text, the length of that word, and what it is."""
    key = _KEY.search(text)
    if key:
        yield from ((each, len(key[1]), "option") for each in _option_keys() if each.startswith(key[1]))
        return
    found = _WORD.search(text)
    begun = found[0] if found else ""
    for name, what in _names(text, catalog):
        plain = name.strip("`").lower()
        if plain.startswith(begun.strip("`").lower()) and name != begun:
            yield name, len(begun), what


def _names(text: str, catalog: Catalog) -> Iterator[tuple[str, str]]:
    tables = sorted({*catalog.list_objects("TABLE"), *catalog.list_objects("VIEW")})
    if _OF_TABLE.search(text):
        yield from ((_quoted(each), "table") for each in tables)
        yield from ((_quoted(each), "database") for each in catalog.list_databases())
        return
    if not _WORD.search(text):
        return  # Everything may follow; that is no help.
    mentioned = [each for each in tables if re.search(rf"(?i)\b{re.escape(each)}\b", text)]
    columns = dict.fromkeys(column for table in mentioned or tables for column in _columns(table, catalog))
    yield from ((_quoted(each), "column") for each in columns)
    yield from ((_quoted(each), "table") for each in tables)
    yield from ((word, "keyword") for word in _keywords())
    yield from ((name, "function") for name in _functions())
    yield from ((name, "function") for name in catalog.list_functions())


def _columns(table: str, catalog: Catalog) -> list[str]:
    from planner.catalog.catalogs import InlineTable, PlanView, View

    found = catalog.get((table,)).object
    if isinstance(found, View):
        return list(found.columns)
    if isinstance(found, PlanView):
        return [field.name for field in found.query.type.fields]
    resolved = found.table if isinstance(found, InlineTable) else found
    return [column.name for column in resolved.table_schema.columns]


def _quoted(name: str) -> str:
    from planner.sql.words import RESERVED

    plain = re.fullmatch(r"[^\W\d]\w*", name) and name.upper() not in RESERVED
    return name if plain else "`" + name.replace("`", "``") + "`"


@cache
def _keywords() -> list[str]:
    from planner.sql.words import BEGINNINGS, LISTS, RESERVED

    return sorted({*RESERVED, *LISTS, *BEGINNINGS})


@cache
def _functions() -> list[str]:
    from rekindle.statements.show import system_functions

    return sorted(name.upper() for name in system_functions())


@cache
def _option_keys() -> list[str]:
    from execnodes.core.options import OPTIONS

    return sorted(OPTIONS)
