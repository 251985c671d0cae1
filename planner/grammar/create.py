"""CREATE: tables with all their clauses, views, functions, catalogs, databases."""

from __future__ import annotations

from dataclasses import dataclass, field

from execnodes.core.errors import Position, SqlError
from planner.grammar import expressions as grammar
from planner.grammar import query
from planner.grammar.cursor import Cursor
from planner.grammar.lexer import Kind
from planner.grammar.types import parse_type
from planner.statements import (
    ColumnDefinition,
    ComputedColumn,
    CreateCatalog,
    CreateDatabase,
    CreateFunction,
    CreateTable,
    CreateView,
    KeyConstraint,
    Like,
    MetadataColumn,
    PhysicalColumn,
    Statement,
    Watermark,
    WrittenExpression,
)

_LIKE_FEATURES = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")


def create(cursor: Cursor) -> Statement:
    """A CREATE statement; CREATE is taken."""
    position = cursor.here
    if cursor.at("OR"):
        raise cursor.unsupported("CREATE OR REPLACE", "Write DROP … IF EXISTS and CREATE.")
    temporary = cursor.accept("TEMPORARY")
    system = temporary and cursor.accept("SYSTEM")
    if cursor.accept("FUNCTION"):
        return _function(cursor, temporary, system)
    if system:
        raise cursor.error("expected FUNCTION behind CREATE TEMPORARY SYSTEM")
    if cursor.accept("TABLE"):
        return _table(cursor, temporary)
    if cursor.accept("VIEW"):
        return _view(cursor, temporary)
    if temporary:
        raise cursor.error("expected TABLE, VIEW or FUNCTION behind CREATE TEMPORARY")
    if cursor.accept("CATALOG"):
        exists = if_not_exists(cursor)
        name = cursor.identifier("a catalog")
        comment = _comment(cursor)
        return CreateCatalog(name, with_options(cursor), comment, exists)
    if cursor.accept("DATABASE"):
        exists = if_not_exists(cursor)
        path = cursor.path("a database")
        comment = _comment(cursor)
        return CreateDatabase(path, with_options(cursor), comment, exists)
    raise cursor.unsupported(
        f"CREATE {cursor.shown()}", "Write CREATE TABLE, VIEW, FUNCTION, CATALOG or DATABASE.", position
    )


def if_not_exists(cursor: Cursor) -> bool:
    """``[IF NOT EXISTS]``."""
    return cursor.accept("IF", "NOT", "EXISTS")


def with_options(cursor: Cursor) -> tuple[tuple[str, str], ...]:
    """``[WITH (…)]``."""
    return cursor.options() if cursor.accept("WITH") else ()


def _comment(cursor: Cursor) -> str | None:
    return cursor.text("a comment") if cursor.accept("COMMENT") else None


@dataclass
class _Elements:
    """What stands in the parentheses of CREATE TABLE."""

    columns: list[ColumnDefinition] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    watermarks: list[Watermark] = field(default_factory=list)
    keys: list[KeyConstraint] = field(default_factory=list)


def _table(cursor: Cursor, temporary: bool) -> CreateTable:
    exists = if_not_exists(cursor)
    path = cursor.path("a table")
    elements = _Elements()
    if cursor.accept("(") and not cursor.accept(")"):
        cursor.listed(lambda: _element(cursor, elements))
        cursor.expect(")")
    comment = _comment(cursor)
    if cursor.at("DISTRIBUTED"):
        raise cursor.unsupported("DISTRIBUTED BY", "Leave it out; partition with PARTITIONED BY.")
    partitioned: tuple[str, ...] = ()
    if cursor.accept("PARTITIONED", "BY"):
        partitioned = cursor.parenthesised(lambda: cursor.identifier("a column"))
    options = with_options(cursor)
    like = _like(cursor) if cursor.at("LIKE") else None
    source = query.query(cursor) if cursor.accept("AS") else None
    if elements.names and source is None:
        raise cursor.error(f"expected AS SELECT, since {elements.names[0]} has no type")
    return CreateTable(
        path,
        tuple(elements.columns),
        tuple(elements.names),
        tuple(elements.watermarks),
        tuple(elements.keys),
        comment,
        partitioned,
        options,
        like,
        source,
        temporary,
        exists,
    )


def _element(cursor: Cursor, elements: _Elements) -> None:
    position = cursor.here
    if cursor.at("WATERMARK", "FOR"):
        cursor.expect("WATERMARK", "FOR")
        column = cursor.path("a column")
        cursor.expect("AS")
        elements.watermarks.append(Watermark(column, written(cursor), position))
    elif cursor.at("CONSTRAINT") or (cursor.at_any("PRIMARY", "UNIQUE") and cursor.ahead(1).upper in ("KEY", "(")):
        name = cursor.identifier("a constraint") if cursor.accept("CONSTRAINT") else None
        _key(cursor)
        columns = cursor.parenthesised(lambda: cursor.identifier("a column"))
        _not_enforced(cursor, position)
        elements.keys.append(KeyConstraint(columns, name, position))
    elif cursor.at("PERIOD", "FOR"):
        raise cursor.unsupported("PERIOD FOR SYSTEM_TIME", "Declare a WATERMARK.")
    else:
        _column(cursor, elements)


def _key(cursor: Cursor) -> None:
    if cursor.at("UNIQUE"):
        raise cursor.unsupported("UNIQUE", "Write PRIMARY KEY (…) NOT ENFORCED.")
    cursor.expect("PRIMARY", "KEY")


def _not_enforced(cursor: Cursor, position: Position) -> None:
    if not cursor.accept("NOT", "ENFORCED"):
        raise SqlError(
            "a primary key must be NOT ENFORCED",
            position=position,
            hint="Rekindle does not own the data and cannot check the key: write PRIMARY KEY (…) NOT ENFORCED.",
        )


def _column(cursor: Cursor, elements: _Elements) -> None:
    position, name = cursor.here, cursor.identifier("a column")
    if cursor.at_any(",", ")"):
        elements.names.append(name)
        return
    if cursor.accept("AS"):
        expression = written(cursor)
        elements.columns.append(ComputedColumn(name, expression, _comment(cursor), position))
        return
    type_, nullable = parse_type(cursor), _before(cursor, "NULL")
    if cursor.accept("METADATA"):
        key = cursor.text("a metadata key") if cursor.accept("FROM") else None
        virtual = cursor.accept("VIRTUAL")
        elements.columns.append(MetadataColumn(name, type_, key, virtual, _comment(cursor), position))
        return
    primary = cursor.at("PRIMARY") or cursor.at("CONSTRAINT") or cursor.at("UNIQUE")
    if primary:
        if cursor.accept("CONSTRAINT"):
            cursor.identifier("a constraint")
        _key(cursor)
        _not_enforced(cursor, position)
    for word in ("DEFAULT", "GENERATED", "CHECK", "REFERENCES"):
        if cursor.at(word):
            raise cursor.unsupported(f"{word} of a column", "Leave it out, or compute the column: name AS expression.")
    elements.columns.append(PhysicalColumn(name, type_, nullable, primary, _comment(cursor), position))


def _before(cursor: Cursor, word: str) -> bool:
    """True if the type just read ended in a bare NULL."""
    return cursor.ahead(-1).upper == word and cursor.ahead(-2).upper != "NOT"


def written(cursor: Cursor) -> WrittenExpression:
    """An expression and its text, white space made single."""
    start = cursor.token.start
    expr = grammar.expression(cursor)
    return WrittenExpression(expr, " ".join(cursor.source.text[start : cursor.ahead(-1).end].split()))


def _like(cursor: Cursor) -> Like:
    position = cursor.here
    cursor.expect("LIKE")
    source = cursor.path("a table")
    found: list[tuple[str, str]] = []
    if cursor.accept("("):
        while not cursor.accept(")"):
            if not cursor.at_any("INCLUDING", "EXCLUDING", "OVERWRITING"):
                raise cursor.error("expected INCLUDING, EXCLUDING or OVERWRITING")
            strategy = cursor.advance().upper
            if not cursor.at_any(*_LIKE_FEATURES):
                raise cursor.error(f"expected one of {', '.join(_LIKE_FEATURES)}")
            found.append((cursor.advance().upper, strategy))
    return Like(source, tuple(found), position)


def _view(cursor: Cursor, temporary: bool) -> CreateView:
    exists = if_not_exists(cursor)
    path = cursor.path("a view")
    columns = cursor.parenthesised(lambda: cursor.identifier("a column")) if cursor.at("(") else ()
    comment = _comment(cursor)
    cursor.expect("AS")
    start = cursor.token.start
    body = query.query(cursor)
    text = cursor.source.text[start : cursor.ahead(-1).end]
    return CreateView(path, body, text, start, columns, comment, temporary, exists)


def _function(cursor: Cursor, temporary: bool, system: bool) -> CreateFunction:
    exists = if_not_exists(cursor)
    return CreateFunction(cursor.path("a function"), *function_body(cursor), temporary, system, exists)


def function_body(cursor: Cursor) -> tuple[str, str]:
    """Class and language of ``AS 'class' [LANGUAGE word]``."""
    cursor.expect("AS")
    class_name = cursor.text("the function's class or module path")
    language = "JAVA"
    if cursor.accept("LANGUAGE"):
        if cursor.token.kind is not Kind.WORD:
            raise cursor.error("expected PYTHON behind LANGUAGE")
        language = cursor.advance().upper
    if cursor.at("USING"):
        raise cursor.unsupported("USING JAR", "Put the module on the Python path.")
    return class_name, language
