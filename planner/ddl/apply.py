"""Applies DDL to a catalog."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import singledispatch

from execnodes.core.errors import CatalogError, SqlError
from execnodes.core.option_maps import parse_map
from execnodes.core.options import Configuration
from execnodes.core.places import within
from execnodes.core.tables import ResolvedTable
from execnodes.core.words import counted
from planner import statements as s
from planner import table_statements as t
from planner.bind.missing_comma import guess_missing_comma
from planner.bind.query import QueryBuilder
from planner.bind.scope import RENAME, find_repeated
from planner.catalog.catalogs import Catalog, CatalogObject, Entry, View, kind_of, quoted
from planner.catalog.store import Database
from planner.catalog.user_functions import UserFunction
from planner.ddl.alter_table import altered
from planner.ddl.create_table import resolve_table
from planner.ddl.query_columns import query_fields

_PYTHON_CLASSES = "pipeline.classes.python"


@dataclass(frozen=True, slots=True)
class DdlResult:
    """What came of it."""

    insert: s.Insert | None = None
    """Of CREATE TABLE AS: the INSERT to run next."""


def execute(statement: s.Statement, catalog: Catalog, configuration: Configuration) -> DdlResult:
    """Apply one DDL statement; SqlError or CatalogError say why it cannot be, with the statement's place."""
    try:
        return _execute(statement, catalog, configuration)
    except CatalogError as error:
        error.position = error.position or statement.position
        raise


@singledispatch
def _execute(statement: s.Statement, catalog: Catalog, configuration: Configuration) -> DdlResult:
    raise SqlError(f"{type(statement).__name__} is no DDL", position=statement.position)


@_execute.register
def _create_table(statement: t.CreateTable, catalog: Catalog, configuration: Configuration) -> DdlResult:
    if statement.if_not_exists and _exists(statement.path, statement.temporary, catalog):
        return DdlResult()
    table, insert = _resolve(statement, catalog, configuration)
    _put(statement, table, catalog)
    return DdlResult(insert)


def _resolve(
    statement: t.CreateTable, catalog: Catalog, configuration: Configuration
) -> tuple[ResolvedTable, s.Insert | None]:
    """The table, and the INSERT of AS SELECT."""
    with within(f"CREATE TABLE {'.'.join(statement.path)}"):
        fields = query_fields(statement, catalog, configuration)
        table = resolve_table(statement, catalog, fields)
    if statement.query is None:
        return table, None
    names = tuple(field.name for field in fields)
    insert = s.Insert(statement.path, statement.query, names, text=statement.text, position=statement.position)
    return table, insert


@contextmanager
def plan_insert(statement: t.CreateTable, catalog: Catalog, configuration: Configuration) -> Iterator[s.Insert]:
    """The INSERT of CREATE TABLE AS; its table is there meanwhile, and gone afterwards."""
    table, insert = _resolve(statement, catalog, configuration)
    assert insert is not None
    identifier = catalog.qualify(statement.path)
    hidden = catalog.temporary_objects.get(identifier)
    catalog.temporary_objects[identifier] = table
    try:
        yield insert
    finally:
        del catalog.temporary_objects[identifier]
        if hidden is not None:
            catalog.temporary_objects[identifier] = hidden


def _exists(path: s.Path, temporary: bool, catalog: Catalog) -> bool:
    entry = catalog.find(path)
    return entry is not None and entry.temporary == temporary


@_execute.register
def _create_view(statement: s.CreateView, catalog: Catalog, configuration: Configuration) -> DdlResult:
    if statement.if_not_exists and _exists(statement.path, statement.temporary, catalog):
        return DdlResult()
    _put(statement, _view(statement, statement.columns, statement.comment, catalog, configuration), catalog)
    return DdlResult()


def _put(statement: t.CreateTable | s.CreateView, created: CatalogObject, catalog: Catalog) -> None:
    """Add what is created, or put it in the place of what OR REPLACE means."""
    entry = catalog.find(statement.path) if statement.or_replace else None
    if entry is None or entry.temporary != statement.temporary:
        catalog.create(statement.path, created, temporary=statement.temporary)
        return
    if kind_of(entry.object) != kind_of(created):
        raise CatalogError(f"{quoted(entry.identifier)} is a {kind_of(entry.object).lower()}")
    catalog.replace(entry, created)


@_execute.register
def _alter_view(statement: s.AlterView, catalog: Catalog, configuration: Configuration) -> DdlResult:
    entry = _altered(statement, "VIEW", catalog)
    if entry is not None:
        comment = entry.object.comment if isinstance(entry.object, View) else None
        catalog.replace(entry, _view(statement, (), comment, catalog, configuration))
    return DdlResult()


def _view(
    statement: s.CreateView | s.AlterView,
    columns: tuple[str, ...],
    comment: str | None,
    catalog: Catalog,
    configuration: Configuration,
) -> View:
    builder = QueryBuilder(catalog, configuration)
    with catalog.defining(statement.path):
        fields = builder.query(statement.query).type.fields
    names = columns or builder.written_names(statement.query) or tuple(field.name for field in fields)
    if len(names) != len(fields):
        raise SqlError(
            f"the view names {counted(len(names), 'column')}, its query gives {len(fields)}",
            position=statement.position,
            hint=guess_missing_comma(builder, statement.query, len(names) - len(fields)),
        )
    if find_repeated(names) is not None:
        raise SqlError(
            f"the view names a column twice: {', '.join(names)}",
            position=statement.position if columns else statement.query.position,
            hint=RENAME,
        )
    text = expand(statement.query_text, statement.query_start, builder.expansions)
    return View(text, names, comment, tuple(field.type.regular() for field in fields))


def expand(text: str, start: int, expansions: Mapping[tuple[int, int], str]) -> str:
    """A query's text with names in full, and columns for stars; places are those in the script, `start` the text's."""
    for (begin, end), expansion in sorted(expansions.items(), reverse=True):
        text = text[: begin - start] + expansion + text[end - start :]
    return text


@_execute.register
def _create_function(statement: s.CreateFunction, catalog: Catalog, configuration: Configuration) -> DdlResult:
    catalog.create_function(
        statement.path,
        _function(statement, configuration),
        temporary=statement.temporary,
        system=statement.system,
        if_not_exists=statement.if_not_exists,
    )
    return DdlResult()


@_execute.register
def _alter_function(statement: s.AlterFunction, catalog: Catalog, configuration: Configuration) -> DdlResult:
    catalog.alter_function(
        statement.path,
        _function(statement, configuration),
        temporary=statement.temporary,
        system=statement.system,
        if_exists=statement.if_exists,
    )
    return DdlResult()


def _function(statement: s.CreateFunction | s.AlterFunction, configuration: Configuration) -> UserFunction:
    if statement.language == "PYTHON":
        return UserFunction(statement.class_name, statement.language)
    stands_for = parse_map(configuration.get_option(_PYTHON_CLASSES), _PYTHON_CLASSES)
    if statement.class_name in stands_for:
        return UserFunction(stands_for[statement.class_name], "PYTHON")
    raise SqlError(
        f"LANGUAGE {statement.language} is not supported",
        position=statement.position,
        hint="Write the function in Python and add LANGUAGE PYTHON, or leave the statement as it is and "
        f"SET '{_PYTHON_CLASSES}' = '{statement.class_name}:module.function'.",
    )


@_execute.register
def _create_catalog(statement: s.CreateCatalog, catalog: Catalog, configuration: Configuration) -> DdlResult:
    catalog.create_catalog(statement.name, dict(statement.options), statement.if_not_exists, statement.comment)
    return DdlResult()


@_execute.register
def _alter_catalog(statement: s.AlterCatalog, catalog: Catalog, configuration: Configuration) -> DdlResult:
    name, given = statement.name, dict(statement.set_options)
    if "type" in (*given, *statement.reset_options):
        raise CatalogError(f"the type of catalog {name!r} cannot change", hint="DROP the catalog and CREATE it.")
    catalog.store(name)
    options = {**catalog.catalog_options[name], **given}
    kept = {key: value for key, value in options.items() if key not in statement.reset_options}
    catalog.alter_catalog(name, kept, statement.comment)
    return DdlResult()


@_execute.register
def _alter_database(statement: s.AlterDatabase, catalog: Catalog, configuration: Configuration) -> DdlResult:
    catalog.alter_database(statement.path, dict(statement.set_options))
    return DdlResult()


@_execute.register
def _create_database(statement: s.CreateDatabase, catalog: Catalog, configuration: Configuration) -> DdlResult:
    created = Database(statement.options, statement.comment)
    catalog.create_database(statement.path, created, statement.if_not_exists)
    return DdlResult()


@_execute.register
def _drop(statement: s.Drop, catalog: Catalog, configuration: Configuration) -> DdlResult:
    path, if_exists = statement.path, statement.if_exists
    match statement.kind:
        case "TABLE" | "VIEW":
            catalog.drop(path, statement.kind, temporary=statement.temporary, if_exists=if_exists)
        case "FUNCTION":
            catalog.drop_function(path, temporary=statement.temporary, system=statement.system, if_exists=if_exists)
        case "CATALOG":
            catalog.drop_catalog(path[-1], if_exists)
        case "DATABASE":
            catalog.drop_database(path, if_exists=if_exists, cascade=statement.cascade)
    return DdlResult()


def _altered(
    statement: t.AlterTable | t.ChangeOfParts | s.AlterView, kind: s.ObjectKind, catalog: Catalog
) -> Entry | None:
    """What is to be changed; None if there is none and IF EXISTS allows that."""
    entry = catalog.find(statement.path)
    if entry is None and statement.if_exists:
        return None
    entry = entry or catalog.get(statement.path, statement.position)
    if kind_of(entry.object) != kind:
        raise CatalogError(f"{quoted(entry.identifier)} is a {kind_of(entry.object).lower()}")
    return entry


@_execute.register
def _change_parts(statement: t.ChangeOfParts, catalog: Catalog, configuration: Configuration) -> DdlResult:
    entry = _altered(statement, "TABLE", catalog)
    if entry is not None and isinstance(entry.object, ResolvedTable):
        catalog.replace(entry, altered(statement, entry.object, catalog, configuration))
    return DdlResult()


@_execute.register
def _alter_table(statement: t.AlterTable, catalog: Catalog, configuration: Configuration) -> DdlResult:
    entry = _altered(statement, statement.kind, catalog)
    if entry is None:
        return DdlResult()
    if statement.rename_to is not None:
        catalog.rename(entry, statement.rename_to)
    elif isinstance(entry.object, ResolvedTable):
        options = {**(entry.object.options or {}), **dict(statement.set_options)}
        if "connector" in statement.reset_options:
            raise CatalogError("the option 'connector' cannot be reset", hint="Drop the table and create it anew.")
        kept = {key: value for key, value in options.items() if key not in statement.reset_options}
        catalog.replace(entry, entry.object.model_copy(update={"options": kept}))
    return DdlResult()


@_execute.register
def _use(statement: s.Use, catalog: Catalog, configuration: Configuration) -> DdlResult:
    if statement.kind == "CATALOG":
        catalog.use_catalog(statement.path[0])
    else:
        catalog.use_database(statement.path)
    return DdlResult()


@_execute.register
def _modules(
    statement: s.LoadModule | s.UnloadModule | s.UseModules, catalog: Catalog, configuration: Configuration
) -> DdlResult:
    match statement:
        case s.LoadModule():
            catalog.modules.load(statement.name)
        case s.UnloadModule():
            catalog.modules.unload(statement.name)
        case s.UseModules():
            catalog.modules.use(statement.names)
    return DdlResult()
