"""SHOW and DESCRIBE: columns and rows of what a session knows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from execnodes.aggregates import FUNCTIONS, WINDOW_FUNCTIONS
from execnodes.core.errors import CatalogError, SqlError
from execnodes.core.options import Configuration
from execnodes.core.secrets import masked, masked_options
from execnodes.core.tables import Column, ResolvedTable
from execnodes.core.type_texts import format_type
from execnodes.core.types import LogicalType
from planner.bind import build_query
from planner.catalog.catalogs import Catalog, InlineTable, PlanView, View, quoted
from planner.catalog.modules import CORE
from planner.parse import parse_query
from planner.statements import Describe, DescribeCatalog, Show

Listing = tuple[tuple[str, ...], list[tuple[Any, ...]]]
"""Column names and rows."""


def show(statement: Show, catalog: Catalog, configuration: Configuration) -> Listing:
    """SHOW TABLES and its like; SqlError for a list that there is not."""
    what = statement.what
    if what.startswith("CREATE "):
        return ("result",), [(create_statement(what.removeprefix("CREATE "), statement.path, catalog),)]
    if what == "COLUMNS":
        columns, rows = describe(Describe(statement.path, position=statement.position), catalog, configuration)
        return columns, [row for row in rows if _matches(str(row[0]), statement)]
    if what == "FULL MODULES":
        return ("module name", "used"), [(CORE, CORE in catalog.modules.used)] if _matches(CORE, statement) else []
    lists: dict[str, Callable[[], Iterable[str]]] = {
        "TABLES": lambda: sorted({*catalog.list_objects("TABLE", path), *catalog.list_objects("VIEW", path)}),
        "VIEWS": lambda: catalog.list_objects("VIEW", path),
        "DATABASES": lambda: catalog.list_databases(*path),
        "CATALOGS": lambda: sorted(catalog.catalogs),
        "CURRENT CATALOG": lambda: [catalog.current_catalog],
        "CURRENT DATABASE": lambda: [catalog.current_database],
        "FUNCTIONS": lambda: sorted({*catalog.list_functions(path), *system_functions()}),
        "USER FUNCTIONS": lambda: catalog.list_functions(path),
        "MODULES": lambda: catalog.modules.used,
        "JARS": lambda: [],
    }
    path = statement.path
    if what not in lists:
        raise SqlError(
            f"SHOW {what} is not supported", position=statement.position, hint=f"There is SHOW {', '.join(lists)}."
        )
    names = [name for name in lists[what]() if _matches(name, statement)]
    return (f"{what.removeprefix('USER ').lower().removesuffix('s')} name",), [(name,) for name in names]


def describe(statement: Describe, catalog: Catalog, configuration: Configuration) -> Listing:
    """DESCRIBE: a row a column."""
    entry = catalog.get(statement.path, statement.position)
    names = ("name", "type", "null", "key", "extras", "watermark")
    if isinstance(entry.object, View):
        columns = _view_columns(entry.identifier, entry.object, catalog, configuration)
        return names, [(name, format_type(t.with_nullable(True)), t.nullable, None, None, None) for name, t in columns]
    if isinstance(entry.object, PlanView):
        compiled = entry.object.query.type.fields
        return names, [
            (f.name, format_type(f.type.with_nullable(True)), f.type.nullable, None, None, None) for f in compiled
        ]
    table = entry.object.table if isinstance(entry.object, InlineTable) else entry.object
    schema = table.table_schema
    key = schema.primary_key
    watermarks = {each.rowtime_attribute: each.expression.serializable_string for each in schema.watermark_specs}
    has_comments = any(column.comment is not None for column in schema.columns)
    batch = configuration.get_option("execution.runtime-mode") == "batch"
    return (*names, *["comment"] * has_comments), [
        (
            column.name,
            format_type((column.data_type.regular() if batch else column.data_type).with_nullable(True)),
            column.data_type.nullable,
            f"PRI({', '.join(key.columns)})" if key and column.name in key.columns else None,
            _extras(column),
            watermarks.get(column.name),
            *[column.comment] * has_comments,
        )
        for column in schema.columns
    ]


def _view_columns(
    path: tuple[str, ...], view: View, catalog: Catalog, configuration: Configuration
) -> Iterable[tuple[str, LogicalType]]:
    """Names and types as the view keeps them; views of releases before 1.5 ask their query."""
    if view.types:
        return zip(view.columns, view.types, strict=True)
    plan = build_query(parse_query(f"SELECT * FROM {quoted(path)}"), catalog, configuration)
    return [(field.name, field.type) for field in plan.type.fields]


def describe_catalog(statement: DescribeCatalog, catalog: Catalog) -> Listing:
    """DESCRIBE CATALOG: its name and type; EXTENDED, its options too."""
    catalog.store(statement.name)
    options = masked_options(catalog.catalog_options.get(statement.name, {}))
    comment = catalog.catalog_comments.get(statement.name)
    rows = [("name", statement.name), ("type", options.get("type", "generic_in_memory")), ("comment", comment)]
    if statement.extended:
        rows += [(f"option:{key}", value) for key, value in sorted(options.items()) if key != "type"]
    return ("info name", "info value"), list(rows)


def create_statement(kind: str, path: tuple[str, ...], catalog: Catalog) -> str:
    """The statement that makes a table, view or catalog; secrets that are no references are left out."""
    if kind == "CATALOG":
        if path[0] not in catalog.catalogs:
            raise CatalogError(f"catalog {path[0]!r} does not exist")
        comment = catalog.catalog_comments.get(path[0])
        told, before = ("", " ") if comment is None else (f"\n{_comment(comment).lstrip()}", "\n")
        return f"CREATE CATALOG {quoted(path)}{told}{_with(catalog.catalog_options.get(path[0], {}), before)}\n"
    entry = catalog.get(path)
    temporary = "TEMPORARY " if entry.temporary else ""
    found = "VIEW" if isinstance(entry.object, View | PlanView) else "TABLE"
    if kind != found:
        raise CatalogError(
            f"{quoted(entry.identifier)} is a {found.lower()}", hint=f"Write SHOW CREATE {found} {quoted(path)}."
        )
    if isinstance(entry.object, View):
        columns = ",\n".join(f"  {quoted((name,))}" for name in entry.object.columns)
        comment = "" if entry.object.comment is None else f"{_comment(entry.object.comment).lstrip()}\n"
        head = f"CREATE {temporary}VIEW {quoted(entry.identifier)} (\n{columns}\n)\n{comment}"
        return f"{head}AS {masked(entry.object.text)}\n"
    if isinstance(entry.object, PlanView):
        raise CatalogError(f"{quoted(entry.identifier)} is the query of a compiled plan; no statement makes it")
    if isinstance(entry.object, InlineTable):
        raise CatalogError(f"{quoted(entry.identifier)} is an inline table; no statement makes it")
    return f"CREATE {temporary}TABLE {quoted(entry.identifier)} (\n{_columns(entry.object)}\n){_tail(entry.object)}\n"


def _columns(table: ResolvedTable) -> str:
    schema = table.table_schema
    lines = [f"  {quoted((column.name,))} {_declared(column)}{_comment(column.comment)}" for column in schema.columns]
    lines += [
        f"  WATERMARK FOR {quoted((each.rowtime_attribute,))} AS {each.expression.serializable_string}"
        for each in schema.watermark_specs
    ]
    if schema.primary_key is not None:
        columns = ", ".join(quoted((name,)) for name in schema.primary_key.columns)
        lines.append(f"  CONSTRAINT {quoted((schema.primary_key.name,))} PRIMARY KEY ({columns}) NOT ENFORCED")
    return ",\n".join(lines)


def _declared(column: Column) -> str:
    if column.expression is not None:
        return f"AS {column.expression.serializable_string}"
    text = format_type(column.data_type.regular(), abbreviated=False)
    if column.kind == "METADATA":
        origin = f" FROM '{_escaped(column.metadata_key)}'" if column.metadata_key else ""
        return f"{text} METADATA{origin}{' VIRTUAL' if column.is_virtual else ''}"
    return text


def _comment(text: str | None) -> str:
    return "" if text is None else f" COMMENT '{_escaped(text)}'"


def _tail(table: ResolvedTable) -> str:
    comment = f"\n{_comment(table.comment).lstrip()}" if table.comment is not None else ""
    keys = f"\nPARTITIONED BY ({', '.join(quoted((k,)) for k in table.partition_keys)})" if table.partition_keys else ""
    return comment + keys + _with(table.options or {}, "\n")


def _with(options: dict[str, str], before: str) -> str:
    if not options:
        return ""
    lines = ",\n".join(
        f"  '{_escaped(key)}' = '{_escaped(value)}'" for key, value in sorted(masked_options(options).items())
    )
    return f"{before}WITH (\n{lines}\n)"


def _escaped(text: str) -> str:
    return text.replace("'", "''")


def _extras(column: Column) -> str | None:
    if column.kind == "PHYSICAL":
        return None
    declared = _declared(column)
    return declared if column.kind == "COMPUTED" else declared[declared.index(" METADATA") + 1 :]


def system_functions() -> set[str]:
    """Names of the functions that are always there, in small letters."""
    from execnodes import functions

    scalar = {each.name for each in functions.registry.functions().values() if each.name[0].isalpha()}
    # What UNNEST calls has no name in SQL.
    own = {each for each in scalar if not each.startswith("UNNEST_")}
    return {name.lower() for name in (*own, *FUNCTIONS, *WINDOW_FUNCTIONS)}


def _matches(name: str, statement: Show) -> bool:
    if statement.like is None:
        return True
    parts = (".*" if c == "%" else "." if c == "_" else re.escape(c) for c in statement.like)
    flags = re.IGNORECASE if statement.ignores_case else re.NOFLAG
    return (re.fullmatch("".join(parts), name, flags) is not None) != statement.negated
