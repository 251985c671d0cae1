"""Statements to relational operators: names looked up, types inferred, what SQL does not allow refused at its place.

`query` is the entry; `select`, `relations`, `aggregate`, `over`, `windows`, `set_operations` and the others each take
one construct; `scope` is what names mean; `expression_binder` makes typed expressions.
"""

from execnodes.core.options import Configuration
from planner.algebra import Logical
from planner.bind.query import QueryBuilder
from planner.bind.sink import build_insert, build_sink
from planner.catalog.catalogs import Catalog
from planner.syntax import Query

__all__ = ["QueryBuilder", "build_insert", "build_query", "build_sink"]


def build_query(query: Query, catalog: Catalog, configuration: Configuration) -> Logical:
    """The plan of a query."""
    return QueryBuilder(catalog, configuration).query(query)
