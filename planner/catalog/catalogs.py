"""Catalogs of a session: databases, tables, views and functions; temporary objects apart, shadowing the others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches

from execnodes.core.errors import CatalogError, Position
from execnodes.core.secrets import remember
from execnodes.core.tables import ResolvedTable
from execnodes.core.types import LogicalType
from planner.algebra import CompiledQuery
from planner.catalog.modules import Modules
from planner.catalog.store import AlterableStore, CatalogStore, Change, Database, MemoryStore, StoreType, memory_store
from planner.catalog.user_functions import FoundFunction, UserFunction

Identifier = tuple[str, str, str]
"""Catalog, database, name."""
DEFAULT_CATALOG, DEFAULT_DATABASE = "default_catalog", "default_database"


@dataclass(frozen=True, slots=True)
class View:
    """A view: its SQL with all names written out, and its columns; those of releases before 1.5 have no types."""

    text: str
    columns: tuple[str, ...]
    comment: str | None = None
    types: tuple[LogicalType, ...] = ()


@dataclass(frozen=True, slots=True)
class PlanView:
    """A view whose query is compiled already."""

    query: CompiledQuery


@dataclass(frozen=True, slots=True)
class InlineTable:
    """A view of a table that has no name in plans: they hold it in full."""

    table: ResolvedTable


CatalogObject = ResolvedTable | View | PlanView | InlineTable


@dataclass(frozen=True, slots=True)
class Entry:
    """An object that was found."""

    identifier: Identifier
    object: CatalogObject
    temporary: bool


def quoted(path: tuple[str, ...]) -> str:
    """A dotted name in backticks."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in path)


class Catalog:
    """All catalogs of a session, and which catalog and database are current."""

    def __init__(self, types: Mapping[str, StoreType] | None = None) -> None:
        self._types = {"generic_in_memory": memory_store, **(types or {})}
        self.catalogs: dict[str, CatalogStore] = {DEFAULT_CATALOG: MemoryStore(DEFAULT_DATABASE)}
        self.catalog_options: dict[str, dict[str, str]] = {DEFAULT_CATALOG: {"type": "generic_in_memory"}}
        self.catalog_comments: dict[str, str] = {}
        self.temporary_objects: dict[Identifier, CatalogObject] = {}
        self.functions: dict[Identifier, UserFunction] = {}
        self.temporary_functions: dict[Identifier, UserFunction] = {}
        self.system_functions: dict[Identifier, UserFunction] = {}
        """Temporary system functions, as if in a catalog without name."""
        self.modules = Modules()
        self._defined: Identifier | None = None
        self.current_catalog = DEFAULT_CATALOG
        self.current_database = DEFAULT_DATABASE

    def qualify(self, path: tuple[str, ...]) -> Identifier:
        """A name of one to three parts in full."""
        match path:
            case (name,):
                return self.current_catalog, self.current_database, name
            case database, name:
                return self.current_catalog, database, name
            case catalog, database, name:
                return catalog, database, name
        raise CatalogError(f"{quoted(path)} has more than three parts", hint="Write catalog.database.name.")

    def store(self, catalog: str) -> CatalogStore:
        """What keeps a catalog; CatalogError if there is no such catalog."""
        if catalog not in self.catalogs:
            raise CatalogError(f"catalog {catalog!r} does not exist", hint=_near(catalog, self.catalogs))
        return self.catalogs[catalog]

    def database(self, catalog: str, database: str) -> Database:
        """A database; CatalogError if it or its catalog is missing."""
        databases = self.store(catalog).databases()
        if database not in databases:
            raise CatalogError(f"database {database!r} does not exist in {catalog!r}", hint=_near(database, databases))
        return databases[database]

    def list_databases(self, catalog: str | None = None) -> list[str]:
        """Names of the databases of a catalog (the current one by default), sorted."""
        return sorted(self.store(catalog or self.current_catalog).databases())

    def find(self, path: tuple[str, ...]) -> Entry | None:
        """A table or view, a temporary one first; None if there is none."""
        identifier = self.qualify(path)
        if identifier == self._defined:
            raise CatalogError(f"the view {quoted(identifier)} would read itself", hint="Give it another name.")
        if identifier in self.temporary_objects:
            return Entry(identifier, self.temporary_objects[identifier], True)
        found = self._permanent(identifier)
        return Entry(identifier, found, False) if found else None

    @contextmanager
    def defining(self, path: tuple[str, ...]) -> Iterator[None]:
        """While the query of a view is read: CatalogError if that finds the view, at once or by way of another one."""
        self._defined = self.qualify(path)
        try:
            yield
        finally:
            self._defined = None

    def get(self, path: tuple[str, ...], position: Position | None = None) -> Entry:
        """A table or view; CatalogError if there is none."""
        entry = self.find(path)
        if entry is None:
            names = [*self.list_objects("TABLE"), *self.list_objects("VIEW")]
            raise CatalogError(f"Object '{'.'.join(path)}' not found", position=position, hint=_near(path[-1], names))
        return entry

    def create(
        self, path: tuple[str, ...], created: CatalogObject, *, temporary: bool = False, if_not_exists: bool = False
    ) -> Identifier:
        """Add a table or view; its full name. CatalogError if the name is taken."""
        identifier = self.qualify(path)
        self.database(*identifier[:2])
        if self._known(identifier, temporary) is not None:
            if if_not_exists:
                return identifier
            what = "temporary object" if temporary else "table or view"
            raise CatalogError(f"{what} {quoted(identifier)} exists already", hint="Drop it or add IF NOT EXISTS.")
        self._change(identifier, temporary, None, created)
        return identifier

    def replace(self, entry: Entry, changed: CatalogObject) -> None:
        """Put another object in the place of one that was found."""
        self._change(entry.identifier, entry.temporary, entry.object, changed)

    def rename(self, entry: Entry, path: tuple[str, ...]) -> None:
        """Move an object to another name of its database."""
        catalog, database, _ = entry.identifier
        identifier = (catalog, database, path[-1])
        if len(path) > 1 and self.qualify(path) != identifier:
            raise CatalogError(f"{quoted(entry.identifier)} cannot move to another database")
        if self._known(identifier, entry.temporary) is not None:
            raise CatalogError(f"table or view {quoted(identifier)} exists already")
        if entry.temporary:
            self.temporary_objects[identifier] = self.temporary_objects.pop(entry.identifier)
            return
        gone, come = Change(entry.identifier[2], entry.object, None), Change(identifier[2], None, entry.object)
        self.store(catalog).change(database, come, gone)

    def drop(self, path: tuple[str, ...], kind: str, *, temporary: bool = False, if_exists: bool = False) -> None:
        """Remove a TABLE or VIEW; CatalogError if it is missing or of the other kind."""
        identifier = self.qualify(path)
        if not temporary and identifier in self.temporary_objects:
            raise CatalogError(
                f"a temporary object {quoted(identifier)} exists",
                hint=f"Write DROP TEMPORARY {kind} to remove it first.",
            )
        found = self._known(identifier, temporary)
        if found is None or kind_of(found) != kind:
            if if_exists:
                return
            other = f"; it is a {kind_of(found).lower()}" if found else ""
            raise CatalogError(f"{kind.lower()} {quoted(identifier)} does not exist{other}")
        self._change(identifier, temporary, found, None)

    def list_objects(self, kind: str, path: tuple[str, ...] = ()) -> list[str]:
        """Names of the TABLEs or VIEWs of a database (the current one by default), sorted."""
        catalog, database, _ = self.qualify((*path, ""))
        self.database(catalog, database)
        store = self.store(catalog)
        known = {name: store.find(database, name) for name in store.names(database)}
        known |= {key[2]: each for key, each in self.temporary_objects.items() if key[:2] == (catalog, database)}
        return sorted(name for name, each in known.items() if each is not None and kind_of(each) == kind)

    def create_catalog(
        self, name: str, options: dict[str, str], if_not_exists: bool = False, comment: str | None = None
    ) -> None:
        """Open a catalog; its options say of which type."""
        if name in self.catalogs:
            if if_not_exists:
                return
            raise CatalogError(f"catalog {name!r} exists already")
        self.register(name, self._open(name, options), options)
        if comment is not None:
            self.catalog_comments[name] = comment

    def _open(self, name: str, options: dict[str, str]) -> CatalogStore:
        kind = options.get("type", "generic_in_memory")
        if kind not in self._types:
            known = " or ".join(f"'{each}'" for each in sorted(self._types))
            raise CatalogError(f"catalog type {kind!r} is not supported", hint=f"Write 'type' = {known}.")
        return self._types[kind](name, options)

    def alter_catalog(self, name: str, options: dict[str, str], comment: str | None) -> None:
        """Give a catalog other options, under which it is opened again; one in memory keeps what it holds."""
        store = self.store(name)
        if options != self.catalog_options[name]:
            self.catalogs[name] = store if isinstance(store, MemoryStore) else self._open(name, options)
            remember(options)
            self.catalog_options[name] = options
        if comment is not None:
            self.catalog_comments[name] = comment

    def alter_database(self, path: tuple[str, ...], options: dict[str, str]) -> None:
        """Set options of a database; CatalogError if it is missing or its catalog cannot change it."""
        catalog, name, _ = self.qualify((*path, ""))
        known, store = self.database(catalog, name), self.store(catalog)
        if not isinstance(store, AlterableStore):
            raise CatalogError(f"catalog {catalog!r} cannot change its databases")
        store.alter_database(name, Database(tuple({**dict(known.options), **options}.items()), known.comment))

    def register(self, name: str, store: CatalogStore, options: dict[str, str]) -> None:
        """Add a catalog that is open already; CatalogError if the name is taken."""
        if name in self.catalogs:
            raise CatalogError(f"catalog {name!r} exists already")
        remember(options)
        self.catalogs[name], self.catalog_options[name] = store, options

    def drop_catalog(self, name: str, if_exists: bool = False) -> None:
        """Close a catalog that is not current; what is stored outside of the session stays."""
        if name not in self.catalogs:
            if if_exists:
                return
            raise CatalogError(f"catalog {name!r} does not exist", hint=_near(name, self.catalogs))
        if name == self.current_catalog:
            raise CatalogError(f"catalog {name!r} is in use", hint="USE CATALOG another one first.")
        self._forget((name,))
        del self.catalogs[name]
        self.catalog_comments.pop(name, None)

    def create_database(self, path: tuple[str, ...], created: Database, if_not_exists: bool = False) -> None:
        """Add a database."""
        catalog, name, _ = self.qualify((*path, ""))
        if not self.store(catalog).create_database(name, created) and not if_not_exists:
            raise CatalogError(f"database {name!r} exists already in {catalog!r}")

    def drop_database(self, path: tuple[str, ...], *, if_exists: bool = False, cascade: bool = False) -> None:
        """Remove a database; one with tables only with CASCADE."""
        catalog, name, _ = self.qualify((*path, ""))
        if catalog not in self.catalogs or name not in self.catalogs[catalog].databases():
            if if_exists:
                return
            raise CatalogError(f"database {name!r} does not exist in {catalog!r}")
        if (catalog, name) == (self.current_catalog, self.current_database):
            raise CatalogError(f"database {name!r} is in use", hint="USE another one first.")
        if not self.catalogs[catalog].drop_database(name, cascade=cascade):
            raise CatalogError(f"database {name!r} is not empty", hint="Add CASCADE to drop its tables too.")
        self._forget((catalog, name))

    def use_catalog(self, name: str) -> None:
        """Make a catalog current, with its first database."""
        if name not in self.catalogs:
            raise CatalogError(f"catalog {name!r} does not exist", hint=_near(name, self.catalogs))
        self.current_catalog, self.current_database = name, next(iter(self.catalogs[name].databases()), "default")

    def use_database(self, path: tuple[str, ...]) -> None:
        """Make a database current."""
        catalog, name, _ = self.qualify((*path, ""))
        self.database(catalog, name)
        self.current_catalog, self.current_database = catalog, name

    def create_function(
        self, path: tuple[str, ...], created: UserFunction, *, temporary: bool, system: bool, if_not_exists: bool
    ) -> None:
        """Add a function; case does not matter in its name. CatalogError if the name is taken."""
        functions, key = self._functions(temporary, system), self._function_name(path, system)
        if key in functions:
            if if_not_exists:
                return
            raise CatalogError(f"function {quoted(path)} exists already", hint="Drop it or add IF NOT EXISTS.")
        if not system:
            catalog, database, _ = self.qualify(path)
            self.database(catalog, database)
            if not temporary and not self.store(catalog).keeps_functions:
                raise CatalogError(
                    f"the catalog {catalog!r} keeps no functions", hint="Write CREATE TEMPORARY FUNCTION."
                )
        functions[key] = created

    def alter_function(
        self, path: tuple[str, ...], changed: UserFunction, *, temporary: bool, system: bool, if_exists: bool
    ) -> None:
        """Put another function in the place of one; CatalogError if there is none."""
        functions, key = self._functions(temporary, system), self._function_name(path, system)
        if key in functions:
            functions[key] = changed
        elif not if_exists:
            raise self._no_function(path)

    def drop_function(self, path: tuple[str, ...], *, temporary: bool, system: bool, if_exists: bool) -> None:
        """Remove a function."""
        functions, key = self._functions(temporary, system), self._function_name(path, system)
        if not temporary and key in self.temporary_functions:
            raise CatalogError(
                f"a temporary function {quoted(path)} exists", hint="Write DROP TEMPORARY FUNCTION to remove it first."
            )
        if functions.pop(key, None) is None and not if_exists:
            raise self._no_function(path)

    def find_function(self, path: tuple[str, ...], *, is_system: bool = False) -> FoundFunction | None:
        """A function of the user; None if there is none, or one of the system (`is_system`) comes first.

        A temporary system function stands before those of the system, these before those of catalogs.
        """
        system = self._function_name(path, system=True)
        if len(path) == 1 and (given := self.system_functions.get(system)) is not None:
            return FoundFunction(given, system_name=system[-1])
        if is_system and len(path) == 1:
            return None
        identifier = self._function_name(path)
        if (given := self.temporary_functions.get(identifier)) is not None:
            return FoundFunction(given, catalog_name=quoted(identifier))
        if (given := self.functions.get(identifier)) is not None:
            return FoundFunction(given, catalog_name=quoted(identifier), class_name=given.class_name)
        return None

    def _function_name(self, path: tuple[str, ...], system: bool = False) -> Identifier:
        catalog, database, name = ("", "", path[-1]) if system else self.qualify(path)
        return catalog, database, name.lower()

    def _functions(self, temporary: bool, system: bool) -> dict[Identifier, UserFunction]:
        if system:
            return self.system_functions
        return self.temporary_functions if temporary else self.functions

    def _no_function(self, path: tuple[str, ...]) -> CatalogError:
        return CatalogError(
            f"function {quoted(path)} does not exist", hint=_near(path[-1].lower(), self.list_functions())
        )

    def list_functions(self, path: tuple[str, ...] = ()) -> list[str]:
        """Names of the user's functions of a database (the current one by default) and of none, sorted."""
        catalog, database, _ = self.qualify((*path, ""))
        self.database(catalog, database)
        places = (("", ""), (catalog, database))
        known = (*self.system_functions, *self.functions, *self.temporary_functions)
        return sorted({key[2] for key in known if key[:2] in places})

    def _permanent(self, identifier: Identifier) -> CatalogObject | None:
        catalog, database, name = identifier
        return self.catalogs[catalog].find(database, name) if catalog in self.catalogs else None

    def _known(self, identifier: Identifier, temporary: bool) -> CatalogObject | None:
        return self.temporary_objects.get(identifier) if temporary else self._permanent(identifier)

    def _change(
        self, identifier: Identifier, temporary: bool, before: CatalogObject | None, after: CatalogObject | None
    ) -> None:
        catalog, database, name = identifier
        if not temporary:
            self.store(catalog).change(database, Change(name, before, after))
        elif after is None:
            del self.temporary_objects[identifier]
        else:
            self.temporary_objects[identifier] = after

    def _forget(self, prefix: tuple[str, ...]) -> None:
        """Remove the functions of a catalog or database."""
        self.functions = {k: v for k, v in self.functions.items() if k[: len(prefix)] != prefix}


def kind_of(found: CatalogObject) -> str:
    """TABLE or VIEW."""
    return "TABLE" if isinstance(found, ResolvedTable) else "VIEW"


def _near(name: str, names: Iterable[str]) -> str | None:
    near = get_close_matches(name, list(names), n=3)
    return f"Did you mean {' or '.join(near)}?" if near else None
