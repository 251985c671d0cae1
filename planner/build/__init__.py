"""Statements to logical plans."""

from execnodes.core.options import Configuration
from planner.algebra import Logical
from planner.build.query import QueryBuilder
from planner.build.sink import build_insert, build_sink
from planner.catalog import Catalog
from planner.syntax import Query

__all__ = ["QueryBuilder", "build_insert", "build_query", "build_sink"]


def build_query(query: Query, catalog: Catalog, configuration: Configuration) -> Logical:
    """The plan of a query."""
    return QueryBuilder(catalog, configuration).query(query)
