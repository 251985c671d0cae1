"""Names and types of a query's columns."""

from __future__ import annotations

from execnodes.core.options import Configuration
from planner import syntax as s
from planner.bind import build_query
from planner.bind.scope import find_repeated
from planner.bind.select import written_name
from planner.catalog.catalogs import Catalog, quoted
from planner.parse import parse_query
from rekindle.results.resolved_schema import ResolvedSchema


def resolve_query(sql: str, catalog: Catalog, configuration: Configuration) -> ResolvedSchema:
    """The columns of a query; SqlError where it cannot be bound."""
    return ResolvedSchema(build_query(parse_query(sql), catalog, configuration).type.fields)


def number_repeated(sql: str, query: s.Query, catalog: Catalog, configuration: Configuration) -> str:
    """The text of a query whose list repeats a name, with numbers behind names: columns of a Table have one each."""
    body: s.Body = query
    while isinstance(body, s.Query | s.SetOperation):
        body = body.body if isinstance(body, s.Query) else body.left
    written = [written_name(item) for item in body.items] if isinstance(body, s.Select) else []
    if find_repeated([name for name in written if name is not None]) is None:
        return sql
    names = resolve_query(sql, catalog, configuration).get_column_names()
    return f"SELECT * FROM ({sql}\n) AS `t` ({', '.join(quoted((name,)) for name in names)})"
