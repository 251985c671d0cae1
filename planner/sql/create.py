"""CREATE: tables with all their clauses, views, functions, catalogs, databases."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from execnodes.core.errors import Position, SqlError
from planner.sql.script import Script
from planner.statements import CreateCatalog, CreateDatabase, CreateFunction, CreateView, Statement
from planner.table_statements import (
    ColumnDefinition,
    ComputedColumn,
    CreateTable,
    KeyConstraint,
    Like,
    MetadataColumn,
    PhysicalColumn,
    Watermark,
    WrittenExpression,
)

_LIKE_FEATURES = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "GENERATED", "METADATA", "OPTIONS", "PARTITIONS", "WATERMARKS")

_NEVER_OVERWRITTEN = ("ALL", "CONSTRAINTS", "DISTRIBUTION", "PARTITIONS")


def create(script: Script) -> Statement:
    """A CREATE statement; CREATE is taken."""
    position = script.here
    replaces = script.accept("OR", "REPLACE")
    temporary = script.accept("TEMPORARY")
    system = temporary and script.accept("SYSTEM")
    if replaces and not script.at_any("TABLE", "VIEW"):
        raise script.unsupported(
            f"CREATE OR REPLACE {script.shown()}", "Write ALTER FUNCTION, or DROP … IF EXISTS and CREATE.", position
        )
    if script.accept("FUNCTION"):
        return _function(script, temporary, system)
    if system:
        raise script.error("expected FUNCTION behind CREATE TEMPORARY SYSTEM")
    if script.accept("TABLE"):
        return _replacing(script, _table(script, temporary), replaces, position)
    if script.accept("VIEW"):
        return _replacing(script, _view(script, temporary), replaces, position)
    if temporary:
        raise script.error("expected TABLE, VIEW or FUNCTION behind CREATE TEMPORARY")
    if script.accept("CATALOG"):
        exists = if_not_exists(script)
        name = script.identifier("a catalog")
        comment = _comment(script)
        return CreateCatalog(name, with_options(script), comment, exists)
    if script.accept("DATABASE"):
        exists = if_not_exists(script)
        path = script.path("a database")
        comment = _comment(script)
        return CreateDatabase(path, with_options(script), comment, exists)
    raise script.unsupported(
        f"CREATE {script.shown()}", "Write CREATE TABLE, VIEW, FUNCTION, CATALOG or DATABASE.", position
    )


def _replacing(
    script: Script, created: CreateTable | CreateView, replaces: bool, position: Position
) -> CreateTable | CreateView:
    if not replaces:
        return created
    if created.if_not_exists:
        raise SqlError("OR REPLACE does not go with IF NOT EXISTS", position=position)
    if created.query is None:
        raise script.unsupported(
            "CREATE OR REPLACE TABLE without AS query",
            "Write ALTER TABLE, or DROP TABLE IF EXISTS and CREATE.",
            position,
        )
    return replace(created, or_replace=True)


def if_not_exists(script: Script) -> bool:
    """``[IF NOT EXISTS]``."""
    return script.accept("IF", "NOT", "EXISTS")


def with_options(script: Script) -> tuple[tuple[str, str], ...]:
    """``[WITH (…)]``."""
    return script.options() if script.accept("WITH") else ()


def _comment(script: Script) -> str | None:
    return script.text("a comment") if script.accept("COMMENT") else None


@dataclass
class Elements:
    """What stands in the parentheses of CREATE TABLE."""

    columns: list[ColumnDefinition] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    watermarks: list[Watermark] = field(default_factory=list)
    keys: list[KeyConstraint] = field(default_factory=list)


def _table(script: Script, temporary: bool) -> CreateTable:
    position = script.here
    exists = if_not_exists(script)
    path = script.path("a table")
    elements = Elements()
    if script.accept("(") and not script.accept(")"):
        script.listed(lambda: element(script, elements))
        script.expect(")")
    comment = _comment(script)
    if script.at("DISTRIBUTED"):
        raise script.unsupported("DISTRIBUTED BY", "No connector has buckets: leave it out.")
    partitioned: tuple[str, ...] = ()
    if script.accept("PARTITIONED", "BY"):
        partitioned = script.parenthesised(lambda: script.identifier("a column"))
    options = with_options(script)
    like = _like(script) if script.at("LIKE") else None
    source = script.query() if script.accept("AS") else None
    if source is not None and temporary:
        raise SqlError("CREATE TABLE AS makes no temporary table", position=position, hint="Leave TEMPORARY out.")
    if elements.names and (elements.columns or elements.watermarks or elements.keys):
        raise SqlError(
            f"CREATE TABLE {'.'.join(path)}: column {elements.names[0]} has no type",
            position=position,
            hint="Name columns of AS SELECT alone, or declare all of them with their types.",
        )
    if elements.names and source is None:
        raise script.error(f"expected AS SELECT, since {elements.names[0]} has no type")
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


def element(script: Script, elements: Elements) -> None:
    """One part of a table: a column, a key or a watermark."""
    position = script.here
    if script.at("WATERMARK", "FOR"):
        script.expect("WATERMARK", "FOR")
        column = script.path("a column")
        script.expect("AS")
        elements.watermarks.append(Watermark(column, written(script), position))
    elif script.at("CONSTRAINT") or (
        script.at_any("PRIMARY", "UNIQUE") and script.ahead(1).text.upper() in ("KEY", "(")
    ):
        name = script.identifier("a constraint") if script.accept("CONSTRAINT") else None
        _key(script)
        columns = script.parenthesised(lambda: script.identifier("a column"))
        _not_enforced(script, position)
        elements.keys.append(KeyConstraint(columns, name, position))
    elif script.at("PERIOD", "FOR"):
        raise script.unsupported("PERIOD FOR SYSTEM_TIME", "Declare a WATERMARK.")
    else:
        _column(script, elements)


def _key(script: Script) -> None:
    if script.at("UNIQUE"):
        raise script.unsupported("UNIQUE", "Write PRIMARY KEY (…) NOT ENFORCED.")
    script.expect("PRIMARY", "KEY")


def _not_enforced(script: Script, position: Position) -> None:
    if not script.accept("NOT", "ENFORCED"):
        raise SqlError(
            "a primary key must be NOT ENFORCED",
            position=position,
            hint="Rekindle does not own the data and cannot check the key: write PRIMARY KEY (…) NOT ENFORCED.",
        )


def _column(script: Script, elements: Elements) -> None:
    position, name = script.here, script.identifier("a column")
    if script.at_any(",", ")"):
        elements.names.append(name)
        return
    if script.accept("AS"):
        expression = written(script)
        elements.columns.append(ComputedColumn(name, expression, _comment(script), position))
        return
    type_, nullable = script.logical_type(), _before(script, "NULL")
    if script.accept("METADATA"):
        key = script.text("a metadata key") if script.accept("FROM") else None
        virtual = script.accept("VIRTUAL")
        elements.columns.append(MetadataColumn(name, type_, key, virtual, _comment(script), position))
        return
    primary = script.at("PRIMARY") or script.at("CONSTRAINT") or script.at("UNIQUE")
    if primary:
        if script.accept("CONSTRAINT"):
            script.identifier("a constraint")
        _key(script)
        _not_enforced(script, position)
    for word in ("DEFAULT", "GENERATED", "CHECK", "REFERENCES"):
        if script.at(word):
            raise script.unsupported(f"{word} of a column", "Leave it out, or compute the column: name AS expression.")
    elements.columns.append(PhysicalColumn(name, type_, nullable, primary, _comment(script), position))


def _before(script: Script, word: str) -> bool:
    """True if the type just read ended in a bare NULL."""
    return script.ahead(-1).text.upper() == word and script.ahead(-2).text.upper() != "NOT"


def written(script: Script) -> WrittenExpression:
    """An expression and its text, white space and comments between its tokens made single spaces."""
    start = script.place
    expr = script.expr()
    return WrittenExpression(expr, script.text_since(start))


def _like(script: Script) -> Like:
    position = script.here
    script.expect("LIKE")
    source = script.path("a table")
    found: list[tuple[str, str]] = []
    if script.accept("("):
        while not found or not script.accept(")"):
            if not script.at_any("INCLUDING", "EXCLUDING", "OVERWRITING"):
                raise script.error("expected INCLUDING, EXCLUDING or OVERWRITING")
            strategy = script.take().text.upper()
            if not script.at_any(*_LIKE_FEATURES):
                raise script.error(f"expected one of {', '.join(_LIKE_FEATURES)}")
            if strategy == "OVERWRITING" and script.at_any(*_NEVER_OVERWRITTEN):
                hint = f"Write EXCLUDING {script.token.text.upper()}."
                raise script.unsupported(f"OVERWRITING {script.token.text.upper()}", hint)
            if any(feature == script.token.text.upper() for feature, _ in found):
                raise SqlError(f"LIKE names {script.token.text.upper()} twice", position=script.here)
            found.append((script.take().text.upper(), strategy))
    return Like(source, tuple(found), position)


def _view(script: Script, temporary: bool) -> CreateView:
    exists = if_not_exists(script)
    path = script.path("a view")
    columns = script.parenthesised(lambda: script.identifier("a column")) if script.at("(") else ()
    comment = _comment(script)
    script.expect("AS")
    start = script.offset
    body = script.query()
    text = script.source.text[start : script.end]
    return CreateView(path, body, text, start, columns, comment, temporary, exists)


def _function(script: Script, temporary: bool, system: bool) -> CreateFunction:
    exists = if_not_exists(script)
    return CreateFunction(script.path("a function"), *function_body(script), temporary, system, exists)


def function_body(script: Script) -> tuple[str, str]:
    """Class and language of ``AS 'class' [LANGUAGE word]``."""
    script.expect("AS")
    class_name = script.text("the function's class or module path")
    language = "JAVA"
    if script.accept("LANGUAGE"):
        if not script.at_word():
            raise script.error("expected PYTHON behind LANGUAGE")
        language = script.take().text.upper()
    if script.at("USING"):
        raise script.unsupported("USING JAR", "Put the module on the Python path.")
    return class_name, language
