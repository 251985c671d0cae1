"""Statements to relational operators: names looked up, types inferred, what SQL does not allow refused at its place.

`query` is the entry, for `sink` too, whose and whose tables' `metadata_columns` are checked; `builder`, `source` and
`stage` are what its parts ask. Clauses: `relations`, `table_scan`, `view_columns`, `values`, `correlate`, `lateral`,
`lookups`, `match` (`match_patterns`, `match_references`), `windows` and the old `group_windows`, `select`,
`aggregate` (over `projected_columns`), `over`, `qualify`, `subqueries` with their `truths`, `subquery_joins` for
those of WHERE, `subquery_shapes` for aggregates in them, `pull_up` for what reads from further in (by
`replaced_names`, with `inlined_counts`), `outer_values` for what reads in any place (by `outer_names`),
`set_operations`, `sorting`, `hints`.
Expressions: `scope` is what names mean, `expression_binder` makes typed expressions, `user_functions` their calls,
`folding` constants, `refused_calls` what Flink does not take; `written` shows them in messages, and a
`missing_comma` is guessed.
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
