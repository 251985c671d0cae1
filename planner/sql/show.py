"""SHOW and DESCRIBE; the first word is taken."""

from __future__ import annotations

from difflib import get_close_matches

from execnodes.core.errors import SqlError
from planner import statements as s
from planner.sql.script import Script
from planner.sql.words import LISTS

_NONE = {
    "PARTITIONS": "Tables have no list of partitions: SELECT DISTINCT their columns.",
    "PROCEDURES": "There are no procedures.",
    "MODELS": "There are no models; call yours in a function written in Python.",
    "MATERIALIZED": "There are no materialized tables; INSERT INTO a table with a primary key keeps a result.",
}
"""Lists of Flink that would always be empty."""
_DATABASE = ("", "Write FROM catalog.database, or FROM database.")
_PLACES = {
    "TABLES": _DATABASE,
    "VIEWS": _DATABASE,
    "FUNCTIONS": _DATABASE,
    "DATABASES": ("Write FROM catalog.",),
    "COLUMNS": ("", "", "Write FROM catalog.database.table."),
}
"""Lists that FROM goes with; as many texts as its name may have parts, the last one a hint."""
_CASELESS = ("CATALOGS", "DATABASES", "FUNCTIONS")
"""Lists that ILIKE goes with, as in Flink."""


def show(script: Script) -> s.Statement:
    """SHOW TABLES, SHOW CREATE TABLE x, SHOW CURRENT CATALOG and their like."""
    if script.accept("CREATE"):
        for kind in ("TABLE", "VIEW", "CATALOG"):
            if script.accept(kind):
                return s.Show(f"CREATE {kind}", script.path("a name"))
        raise script.error("expected TABLE, VIEW or CATALOG behind SHOW CREATE")
    if script.accept("CURRENT"):
        for kind in ("CATALOG", "DATABASE"):
            if script.accept(kind):
                return s.Show(f"CURRENT {kind}")
        raise script.error("expected CATALOG or DATABASE behind SHOW CURRENT")
    qualifier = next((word for word in ("USER", "FULL") if script.accept(word)), None)
    if script.token.text.upper() in _NONE:
        raise script.unsupported(f"SHOW {script.shown()}", _NONE[script.token.text.upper()])
    if not script.at_any(*LISTS):
        near = get_close_matches(script.shown().upper(), LISTS, 1, 0.75)
        meant = f"Did you mean {near[0]}? " if near else ""
        known = f"There is SHOW {', '.join(LISTS)}, CREATE TABLE, CURRENT CATALOG and CURRENT DATABASE."
        raise script.unsupported(f"SHOW {script.shown()}", meant + known)
    what = script.take().text.upper()
    if what == "COLUMNS" and not script.at_any("FROM", "IN"):
        raise script.error("expected FROM and a table")
    path = _place(script, what) if script.at_any("FROM", "IN") else ()
    negated = script.accept("NOT")
    ignores_case = what in _CASELESS and script.accept("ILIKE")
    like = None
    if ignores_case or negated or script.at("LIKE"):
        if not ignores_case:
            script.expect("LIKE")
        like = script.text("a pattern")
    return s.Show(f"{qualifier} {what}" if qualifier else what, path, like, negated, ignores_case)


def _place(script: Script, what: str) -> s.Path:
    """``FROM name``: the table, database or catalog that a list is of."""
    position = script.here
    parts = _PLACES.get(what)
    if parts is None:
        raise script.unsupported(f"SHOW {what} {script.shown()}", f"Leave {script.shown()} out.")
    script.take()
    found = script.path("a name")
    if len(found) > len(parts):
        name = ".".join(found)
        raise SqlError(f"SHOW {what} FROM {name}: a name has too many parts", position=position, hint=parts[-1])
    return found


def describe(script: Script) -> s.Statement:
    """DESCRIBE [EXTENDED] table, DESCRIBE CATALOG or FUNCTION [EXTENDED] name, DESCRIBE JOB 'id'."""
    if script.at("JOB") and script.at_text(1):
        script.take()
        return s.DescribeJob(script.text("a job's id"))
    if script.at("CATALOG") and script.ahead(1).text not in (".", "", ";"):
        script.take()
        extended = script.accept("EXTENDED")
        return s.DescribeCatalog(script.identifier("a catalog"), extended)
    if script.at("FUNCTION") and script.ahead(1).text not in (".", "", ";"):
        script.take()
        extended = script.accept("EXTENDED")
        return s.DescribeFunction(script.path("a function"), extended)
    if script.at_any("CATALOG", "DATABASE", "FUNCTION") and script.ahead(1).text.upper() != ".":
        raise script.unsupported(
            f"DESCRIBE {script.token.text.upper()}",
            "A database is a name alone: SHOW TABLES FROM it."
            if script.at("DATABASE")
            else "DESCRIBE takes a table, a view, CATALOG or FUNCTION with a name.",
        )
    script.accept("EXTENDED")
    return s.Describe(script.path("a table"))
