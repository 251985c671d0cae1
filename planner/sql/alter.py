"""ALTER: tables with their columns, key, watermark and options, views, functions; ALTER is taken."""

from __future__ import annotations

from sqlglot.tokenizer_core import Token
from sqlglot.tokenizer_core import TokenType as T

from planner import statements as s
from planner import table_statements as t
from planner.sql.create import Elements, element, function_body
from planner.sql.script import Script
from planner.sql.words import TYPES

_FILES_REMOVED = "Rekindle does not own the data: remove the partition's files."
_NOT_OWNED = "Rekindle does not own the data: a partition is there when its files are. Leave the statement out."
_BUCKETS = "No connector has buckets: leave it out."


def alter(script: Script) -> s.Statement:
    """An ALTER statement."""
    temporary = script.accept("TEMPORARY")
    system = temporary and script.accept("SYSTEM")
    if temporary or script.at("FUNCTION"):
        script.expect("FUNCTION")
        exists = script.accept("IF", "EXISTS")
        return s.AlterFunction(script.path("a function"), *function_body(script), temporary, system, exists)
    if script.accept("VIEW"):
        return _view(script)
    if script.accept("TABLE"):
        return _table(script)
    if script.accept("CATALOG"):
        return _catalog(script)
    if script.accept("DATABASE"):
        path = script.path("a database")
        script.expect("SET")
        return s.AlterDatabase(path, script.options())
    hint = "Write ALTER TABLE, VIEW, FUNCTION, CATALOG or DATABASE."
    raise script.unsupported(f"ALTER {script.shown()}", hint)


def _catalog(script: Script) -> s.Statement:
    name = script.identifier("a catalog")
    if script.accept("SET"):
        return s.AlterCatalog(name, set_options=script.options())
    if script.accept("RESET"):
        return s.AlterCatalog(name, reset_options=script.parenthesised(lambda: script.text("an option's key")))
    if script.accept("COMMENT"):
        return s.AlterCatalog(name, comment=script.text("a comment"))
    raise script.error("expected SET, RESET or COMMENT")


def _view(script: Script) -> s.Statement:
    if_exists = script.accept("IF", "EXISTS")
    path = script.path("a view")
    if script.accept("RENAME", "TO"):
        return t.AlterTable(path, "VIEW", rename_to=script.path("a view"), if_exists=if_exists)
    if script.accept("AS"):
        start = script.offset
        body = script.query()
        return s.AlterView(path, body, script.source.text[start : script.end], start, if_exists)
    raise script.unsupported(f"ALTER VIEW … {script.shown()}", "Supported: RENAME TO, AS query.")


def _table(script: Script) -> s.Statement:
    if_exists = script.accept("IF", "EXISTS")
    path = script.path("a table")
    if script.accept("RENAME", "TO"):
        return t.AlterTable(path, rename_to=script.path("a table"), if_exists=if_exists)
    if script.accept("RENAME"):
        column = _column(script)
        script.expect("TO")
        return t.RenameColumn(path, column, _column(script), if_exists)
    if script.accept("SET"):
        return t.AlterTable(path, set_options=script.options(), if_exists=if_exists)
    if script.accept("RESET"):
        keys = script.parenthesised(lambda: script.text("an option's key"))
        return t.AlterTable(path, reset_options=keys, if_exists=if_exists)
    if script.accept("ADD"):
        return _parts(script, t.AddParts(path, (), if_exists=if_exists))
    if script.accept("MODIFY"):
        return _parts(script, t.ModifyParts(path, (), if_exists=if_exists))
    if script.accept("DROP"):
        return _drop(script, path, if_exists)
    raise script.unsupported(
        f"ALTER TABLE … {script.shown()}", "Supported: ADD, MODIFY, DROP, RENAME, SET ('key' = 'value'), RESET ('key')."
    )


def _column(script: Script) -> str:
    path = script.path("a column")
    if len(path) > 1:
        raise script.unsupported(f"changing the field {'.'.join(path)} of a row", "MODIFY the whole column.")
    return path[0]


def _parts(script: Script, statement: t.AddParts | t.ModifyParts) -> s.Statement:
    """What stands behind ADD or MODIFY: one part, or several in parentheses."""
    named = script.at("IF") and script.ahead(1).text.upper() == "NOT" and script.ahead(3).text.upper() == "PARTITION"
    if named:
        raise script.unsupported("ADD IF NOT EXISTS PARTITION", _NOT_OWNED)
    for word, hint in (("PARTITION", _NOT_OWNED), ("DISTRIBUTION", _BUCKETS)):
        if script.at(word):
            raise script.unsupported(f"{word} here", hint)
    elements, places = Elements(), list[t.Place]()
    if script.accept("("):
        script.listed(lambda: _part(script, elements, places))
        script.expect(")")
    else:
        _part(script, elements, places)
    columns = tuple(t.PlacedColumn(each, at) for each, at in zip(elements.columns, places, strict=True))
    return type(statement)(
        statement.path, columns, tuple(elements.watermarks), tuple(elements.keys), statement.if_exists
    )


def _part(script: Script, elements: Elements, places: list[t.Place]) -> None:
    if script.at("COLUMN") and script.ahead(1).token_type in (T.VAR, T.IDENTIFIER) and not _is_type(script.ahead(1)):
        raise script.unsupported("COLUMN in front of a column", "Leave the word out.")
    element(script, elements)
    if elements.names:
        raise script.error(f"expected the type of {elements.names[0]}")
    if len(elements.columns) == len(places):
        return
    if script.accept("FIRST"):
        places.append(t.Place(first=True))
    elif script.accept("AFTER"):
        places.append(t.Place(after=_column(script)))
    else:
        places.append(t.Place())


def _is_type(token: Token) -> bool:
    return token.token_type is T.VAR and token.text.upper() in (*TYPES, "METADATA")


def _drop(script: Script, path: s.Path, if_exists: bool) -> s.Statement:
    if script.accept("PRIMARY", "KEY"):
        return t.DropParts(path, key=True, if_exists=if_exists)
    if script.accept("CONSTRAINT"):
        return t.DropParts(path, key=True, constraint=script.identifier("a constraint"), if_exists=if_exists)
    if script.at("WATERMARK") and script.ahead(1).text in ("", ";"):
        script.take()
        return t.DropParts(path, watermark=True, if_exists=if_exists)
    if script.at("IF") and script.ahead(2).text.upper() == "PARTITION":
        raise script.unsupported("DROP IF EXISTS PARTITION", _FILES_REMOVED)
    if script.at("PARTITION") and script.ahead(1).text == "(":
        raise script.unsupported("DROP PARTITION", _FILES_REMOVED)
    if script.at("DISTRIBUTION") and script.ahead(1).text in ("", ";"):
        raise script.unsupported("DROP DISTRIBUTION", _BUCKETS)
    columns = script.parenthesised(lambda: _column(script)) if script.at("(") else (_column(script),)
    return t.DropParts(path, columns, if_exists=if_exists)
