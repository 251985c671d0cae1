"""What the parts of a query ask of the builder they are bound by: the queries that stand inside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from execnodes.core.options import Configuration
from execnodes.core.types import LogicalType
from planner import syntax as s
from planner.algebra import Logical
from planner.bind.scope import Scope
from planner.bind.source import Source
from planner.catalog.catalogs import Catalog

Expected = tuple[LogicalType, ...] | None
"""Types an INSERT wants; they give a bare NULL its type."""


class Builder(Protocol):
    """`planner.bind.query.QueryBuilder`, which knows all parts; a part knows but this."""

    catalog: Catalog
    configuration: Configuration
    expansions: dict[tuple[int, int], str]
    """Places in the script, and what stands there in a text that means the same whatever changes around it."""

    def query(
        self, node: s.Query, *, outer: Scope | None = None, expected: Expected = None, nested: bool = False
    ) -> Logical:
        """The plan of a query. `outer` is the scope around a subquery; `nested` says that row order has no meaning."""

    def subquery(self, node: s.Query) -> Logical:
        """The plan of a subquery that reads nothing of the query around it, made once."""

    def keep_names(self, node: s.Select, names: tuple[str, ...]) -> None:
        """Keep the names that a SELECT list writes, which may repeat; those of its plan do not."""

    def written_names(self, node: s.Body) -> tuple[str, ...]:
        """Names that the first SELECT list of a bound query writes; none of what is no list."""

    def once(self, nodes: tuple[s.Node | None, ...], make: Callable[[], Source]) -> Source:
        """FROM, or FROM and WHERE, made once: one subquery may be bound for several joins, and so those inside it."""

    def keep_plan(self, make: Callable[[str], Logical]) -> s.TableName:
        """A table name of its own for a plan, which is made for that name."""

    def body(self, node: s.Body, outer: Scope | None = None, expected: Expected = None) -> Logical:
        """The plan of a query without its ORDER BY."""

    def table(self, node: s.TableName) -> Source:
        """A query of WITH, a table or a view, under its alias."""

    def derived(self, node: s.Derived) -> Source:
        """A query in FROM."""

    def within(self, items: tuple[s.WithItem, ...]) -> Builder:
        """The builder of a query behind these queries of WITH."""

    def lateral(self, left: Source, node: s.Join, right: s.Derived) -> Source | None:
        """The join with LATERAL (SELECT …) if that reads the rows in front of it."""
