"""Names and types of a query's columns."""

from __future__ import annotations

from execnodes.core.options import Configuration
from planner.bind import build_query
from planner.catalog.catalogs import Catalog
from planner.parse import parse_query
from rekindle.results.resolved_schema import ResolvedSchema


def resolve_query(sql: str, catalog: Catalog, configuration: Configuration) -> ResolvedSchema:
    """The columns of a query; SqlError where it cannot be bound."""
    return ResolvedSchema(build_query(parse_query(sql), catalog, configuration).type.fields)
