"""SHOW and DESCRIBE; the first word is taken."""

from __future__ import annotations

from planner import statements as s
from planner.grammar.cursor import Cursor
from planner.grammar.lexer import Kind

LISTS = ("TABLES", "VIEWS", "DATABASES", "CATALOGS", "FUNCTIONS", "JOBS", "MODULES", "JARS", "COLUMNS")


def show(cursor: Cursor) -> s.Statement:
    """SHOW TABLES, SHOW CREATE TABLE x, SHOW CURRENT CATALOG and their like."""
    if cursor.accept("CREATE"):
        for kind in ("TABLE", "VIEW", "CATALOG"):
            if cursor.accept(kind):
                return s.Show(f"CREATE {kind}", cursor.path("a name"))
        raise cursor.error("expected TABLE, VIEW or CATALOG behind SHOW CREATE")
    if cursor.accept("CURRENT"):
        for kind in ("CATALOG", "DATABASE"):
            if cursor.accept(kind):
                return s.Show(f"CURRENT {kind}")
        raise cursor.error("expected CATALOG or DATABASE behind SHOW CURRENT")
    qualifier = next((word for word in ("USER", "FULL") if cursor.accept(word)), None)
    if not cursor.at_any(*LISTS):
        raise cursor.unsupported(
            f"SHOW {cursor.shown()}", f"Write SHOW {', '.join(LISTS)}, CREATE TABLE or CURRENT CATALOG."
        )
    what = cursor.advance().upper
    path = cursor.path("a name") if cursor.accept("FROM") or cursor.accept("IN") else ()
    negated = cursor.accept("NOT")
    like = None
    if negated or cursor.at("LIKE"):
        cursor.expect("LIKE")
        like = cursor.text("a pattern")
    return s.Show(f"{qualifier} {what}" if qualifier else what, path, like, negated)


def describe(cursor: Cursor) -> s.Statement:
    """DESCRIBE [EXTENDED] table, DESCRIBE JOB 'id'."""
    if cursor.at("JOB") and cursor.ahead(1).kind is Kind.TEXT:
        cursor.advance()
        return s.DescribeJob(cursor.text("a job's id"))
    if cursor.at_any("CATALOG", "DATABASE", "FUNCTION") and cursor.ahead(1).upper != ".":
        raise cursor.unsupported(f"DESCRIBE {cursor.token.upper}", "DESCRIBE takes a table or a view.")
    cursor.accept("EXTENDED")
    return s.Describe(cursor.path("a table"))
