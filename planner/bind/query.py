"""Queries to logical plans: WITH, set operations, VALUES, views, ORDER BY and LIMIT."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from itertools import count

from execnodes.core.errors import RekindleError, SqlError
from execnodes.core.options import Configuration
from execnodes.core.places import within
from execnodes.core.tables import ResolvedTable
from planner import syntax as s
from planner.algebra import Logical
from planner.bind.builder import Expected
from planner.bind.lateral import join_lateral
from planner.bind.lookups import without_join
from planner.bind.metadata_columns import check_readable_metadata
from planner.bind.missing_comma import guess_missing_comma
from planner.bind.scope import RENAME, Scope, find_repeated
from planner.bind.select import build_select
from planner.bind.set_operations import build_set_operation
from planner.bind.sorting import limited, sort_output
from planner.bind.source import Source, named
from planner.bind.table_scan import read, read_table
from planner.bind.values import build_values
from planner.bind.view_columns import restore_columns
from planner.catalog.catalogs import Catalog, Entry, InlineTable, PlanView, View, quoted
from planner.parse import parse_query

Ctes = dict[str, tuple[Logical, tuple[str, ...]]]
"""Queries of WITH by name: their plans and the names of their columns."""


class QueryBuilder:
    """Builds the queries of one statement or view."""

    def __init__(
        self,
        catalog: Catalog,
        configuration: Configuration,
        ctes: Ctes | None = None,
    ) -> None:
        """`ctes` are the queries of WITH that can be seen."""
        self.catalog = catalog
        self.configuration = configuration
        self.ctes = ctes or {}
        self._nested: dict[int, tuple[s.Query, Logical]] = {}
        self._sources: dict[tuple[int, ...], tuple[tuple[s.Node | None, ...], Source]] = {}
        self._names: dict[int, tuple[s.Select, tuple[str, ...]]] = {}
        self._numbers = count()
        self.expansions: dict[tuple[int, int], str] = {}
        """Where tables and views of the catalog are named in the script, and their full names; the columns of stars."""

    def query(
        self, node: s.Query, *, outer: Scope | None = None, expected: Expected = None, nested: bool = False
    ) -> Logical:
        """The plan of a query. `outer` is the scope around a subquery; `nested` says that row order has no meaning."""
        inner = self.within(node.with_items)
        ordered = node.order if node.fetch is not None or node.offset or not nested else ()
        if isinstance(node.body, s.Select):
            plan = build_select(inner, node.body, ordered, outer, expected)
        else:
            plan = inner.body(node.body, outer, expected)
            plan = sort_output(plan, ordered, self.catalog) if ordered else plan
        self.expansions.update(inner.expansions)
        return limited(plan, node.offset, node.fetch, bool(ordered), node.position)

    def subquery(self, node: s.Query) -> Logical:
        """The plan of a subquery that reads nothing of the query around it, made once."""
        if id(node) not in self._nested:
            # The query is kept so that its id is not given to another one.
            self._nested[id(node)] = (node, self.query(node, nested=True))
        return self._nested[id(node)][1]

    def keep_names(self, node: s.Select, names: tuple[str, ...]) -> None:
        """Keep the names that a SELECT list writes, which may repeat; those of its plan do not."""
        self._names[id(node)] = (node, names)

    def written_names(self, node: s.Body) -> tuple[str, ...]:
        """Names that the first SELECT list of a bound query writes; none of what is no list."""
        while isinstance(node, s.Query | s.SetOperation):
            node = node.body if isinstance(node, s.Query) else node.left
        return self._names[id(node)][1] if isinstance(node, s.Select) else ()

    def once(self, nodes: tuple[s.Node | None, ...], make: Callable[[], Source]) -> Source:
        """FROM, or FROM and WHERE, made once: one subquery may be bound for several joins, and so those inside it."""
        key = tuple(map(id, nodes))
        if key not in self._sources:
            self._sources[key] = (nodes, make())
        return self._sources[key][1]

    def keep_plan(self, make: Callable[[str], Logical]) -> s.TableName:
        """A table name of its own for a plan, which is made for that name."""
        name = f"$outer{next(self._numbers)}"
        self.ctes[name] = (make(name), ())
        return s.TableName((name,))

    def body(self, node: s.Body, outer: Scope | None = None, expected: Expected = None) -> Logical:
        """The plan of a query without its ORDER BY."""
        match node:
            case s.Select():
                return build_select(self, node, (), outer, expected)
            case s.SetOperation():
                return build_set_operation(self, node, expected)
            case s.Values():
                return build_values(node, self.catalog, expected)
            case s.TableName():
                return self.table(node).logical
            case s.Query():
                return self.query(node, outer=outer, expected=expected)

    def table(self, node: s.TableName) -> Source:
        """A query of WITH, a table or a view, under its alias."""
        if node.as_of is not None:
            raise without_join(node.as_of)
        alias = node.alias.name if node.alias else node.parts[-1]
        columns = node.alias.columns if node.alias else ()
        if len(node.parts) == 1 and node.parts[0] in self.ctes:
            plan, names = self.ctes[node.parts[0]]
            if node.hints:
                raise SqlError("a hint behind a query of WITH has no effect", position=node.hints[0].position)
            return named(plan, alias, self.renamed(columns or names, plan, node))
        entry = self.catalog.get(node.parts, node.position)
        self.expansions[node.span] = quoted(entry.identifier)
        if not isinstance(entry.object, ResolvedTable):
            if node.hints:
                raise SqlError("a hint behind a view has no effect", position=node.hints[0].position)
            plan, names = self._view(entry, entry.object)
            return named(
                plan, alias, self.renamed(columns or names, plan, node), () if node.alias else entry.identifier
            )
        plan = read_table(entry, entry.object, node)
        return named(plan, alias, self.renamed(columns, plan, node), () if node.alias else entry.identifier)

    def derived(self, node: s.Derived) -> Source:
        """A query in FROM."""
        plan = self.subquery(node.query)
        alias, columns = (node.alias.name, node.alias.columns) if node.alias else (None, ())
        return named(plan, alias, self.renamed(columns or self.written_names(node.query), plan, node, node.query))

    def lateral(self, left: Source, node: s.Join, right: s.Derived) -> Source | None:
        """The join with LATERAL (SELECT …) if that reads the rows in front of it."""
        return join_lateral(self, left, node, right)

    def within(self, items: tuple[s.WithItem, ...]) -> QueryBuilder:
        """The builder of a query behind these queries of WITH."""
        if not items:
            return self
        inner = QueryBuilder(self.catalog, self.configuration, dict(self.ctes))
        inner._names, inner._numbers = self._names, self._numbers
        for item in items:
            plan = inner.query(item.query, nested=True)
            written = inner.written_names(item.query)
            if not item.columns and (name := find_repeated(written)) is not None:
                raise SqlError(f"'{item.name}' has two columns named '{name}'", position=item.position, hint=RENAME)
            names = item.columns or tuple(field.name for field in plan.type.fields)
            inner.ctes[item.name] = (plan, inner.renamed(names, plan, item, item.query))
        return inner

    def renamed(
        self, columns: tuple[str, ...], plan: Logical, node: s.Node, query: s.Query | None = None
    ) -> tuple[str, ...]:
        """Column names of an alias; SqlError if their number does not fit what `query` gives."""
        width = len(plan.type.fields)
        if columns and len(columns) != width:
            hint = guess_missing_comma(self, query, len(columns) - width) if query else None
            raise SqlError(f"{len(columns)} column names for {width} columns", position=node.position, hint=hint)
        return columns

    def _view(self, entry: Entry, view: View | PlanView | InlineTable) -> tuple[Logical, tuple[str, ...]]:
        if isinstance(view, PlanView):
            return view.query, ()
        if isinstance(view, InlineTable):
            check_readable_metadata(view.table, None)
            return read(view.table, None), ()
        try:
            with within(f"view {quoted(entry.identifier)}"):
                query = _view_query(view.text)
                plan = QueryBuilder(self.catalog, self.configuration).query(query, nested=True)
                return restore_columns(plan, view, query), view.columns
        except RekindleError as error:
            error.where = error.where or f"view {quoted(entry.identifier)}"
            error.hint = error.hint or "Alter the view, or give its tables what its query reads."
            raise


@lru_cache(maxsize=1024)
def _view_query(text: str) -> s.Query:
    return parse_query(text)
