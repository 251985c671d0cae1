"""Catalogs in memory: databases, tables, views and functions; temporary objects apart, shadowing the others."""

from __future__ import annotations

from dataclasses import dataclass, field
from difflib import get_close_matches

from execnodes.core.errors import CatalogError, Position
from execnodes.core.tables import ResolvedTable

Identifier = tuple[str, str, str]
"""Catalog, database, name."""
DEFAULT_CATALOG, DEFAULT_DATABASE = "default_catalog", "default_database"


@dataclass(frozen=True, slots=True)
class View:
    """A view: its SQL with all names written out, and the names of its columns."""

    text: str
    columns: tuple[str, ...]
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class UserFunction:
    """A function of the user."""

    class_name: str
    language: str


CatalogObject = ResolvedTable | View


@dataclass(frozen=True, slots=True)
class Entry:
    """An object that was found."""

    identifier: Identifier
    object: CatalogObject
    temporary: bool


@dataclass
class Database:
    """A database: objects by name."""

    objects: dict[str, CatalogObject] = field(default_factory=dict)
    functions: dict[str, UserFunction] = field(default_factory=dict)
    options: dict[str, str] = field(default_factory=dict)
    comment: str | None = None


def quoted(path: tuple[str, ...]) -> str:
    """A dotted name in backticks."""
    return ".".join(f"`{part.replace('`', '``')}`" for part in path)


class Catalog:
    """All catalogs of a session, and which catalog and database are current."""

    def __init__(self) -> None:
        self.catalogs: dict[str, dict[str, Database]] = {DEFAULT_CATALOG: {DEFAULT_DATABASE: Database()}}
        self.catalog_options: dict[str, dict[str, str]] = {DEFAULT_CATALOG: {"type": "generic_in_memory"}}
        self.temporary_objects: dict[Identifier, CatalogObject] = {}
        self.temporary_functions: dict[Identifier, UserFunction] = {}
        self.system_functions: dict[str, UserFunction] = {}
        self.current_catalog = DEFAULT_CATALOG
        self.current_database = DEFAULT_DATABASE

    def qualify(self, path: tuple[str, ...]) -> Identifier:
        """A name of one to three parts in full."""
        if len(path) > 3:
            raise CatalogError(f"{quoted(path)} has more than three parts", hint="Write catalog.database.name.")
        return (self.current_catalog, self.current_database, *path)[-3:]  # type: ignore[return-value]

    def database(self, catalog: str, database: str) -> Database:
        """A database; CatalogError if it or its catalog is missing."""
        databases = self.catalogs.get(catalog)
        if databases is None:
            raise CatalogError(f"catalog {catalog!r} does not exist", hint=_near(catalog, self.catalogs))
        if database not in databases:
            raise CatalogError(f"database {database!r} does not exist in {catalog!r}", hint=_near(database, databases))
        return databases[database]

    def find(self, path: tuple[str, ...]) -> Entry | None:
        """A table or view, a temporary one first; None if there is none."""
        identifier = self.qualify(path)
        if identifier in self.temporary_objects:
            return Entry(identifier, self.temporary_objects[identifier], True)
        database = self.catalogs.get(identifier[0], {}).get(identifier[1])
        found = database.objects.get(identifier[2]) if database else None
        return Entry(identifier, found, False) if found else None

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
        objects, key = self._place(identifier, temporary)
        if key in objects:
            if if_not_exists:
                return identifier
            what = "temporary object" if temporary else "table or view"
            raise CatalogError(f"{what} {quoted(identifier)} exists already", hint="Drop it or add IF NOT EXISTS.")
        objects[key] = created
        return identifier

    def replace(self, entry: Entry, changed: CatalogObject) -> None:
        """Put another object in the place of one that was found."""
        objects, key = self._place(entry.identifier, entry.temporary)
        objects[key] = changed

    def rename(self, entry: Entry, path: tuple[str, ...]) -> None:
        """Move an object to another name of its database."""
        identifier = (*entry.identifier[: 3 - len(path)], *path)
        objects, key = self._place(identifier, entry.temporary)  # type: ignore[arg-type]
        if key in objects:
            raise CatalogError(f"table or view {quoted(identifier)} exists already")
        objects[key] = entry.object
        old, old_key = self._place(entry.identifier, entry.temporary)
        del old[old_key]

    def drop(self, path: tuple[str, ...], kind: str, *, temporary: bool = False, if_exists: bool = False) -> None:
        """Remove a TABLE or VIEW; CatalogError if it is missing or of the other kind."""
        identifier = self.qualify(path)
        if not temporary and identifier in self.temporary_objects:
            raise CatalogError(
                f"a temporary object {quoted(identifier)} exists",
                hint=f"Write DROP TEMPORARY {kind} to remove it first.",
            )
        objects, key = self._place(identifier, temporary)
        found = objects.get(key)
        if found is None or kind_of(found) != kind:
            if if_exists:
                return
            other = f"; it is a {kind_of(found).lower()}" if found else ""
            raise CatalogError(f"{kind.lower()} {quoted(identifier)} does not exist{other}")
        del objects[key]

    def list_objects(self, kind: str, path: tuple[str, ...] = ()) -> list[str]:
        """Names of the TABLEs or VIEWs of a database (the current one by default), sorted."""
        catalog, database = self.qualify((*path, ""))[:2]
        permanent = self.database(catalog, database).objects
        temporary = {key[2]: each for key, each in self.temporary_objects.items() if key[:2] == (catalog, database)}
        return sorted(name for name, each in {**permanent, **temporary}.items() if kind_of(each) == kind)

    def create_catalog(self, name: str, options: dict[str, str], if_not_exists: bool = False) -> None:
        """Add a catalog with a database `default`."""
        if name in self.catalogs:
            if if_not_exists:
                return
            raise CatalogError(f"catalog {name!r} exists already")
        if options.get("type", "generic_in_memory") != "generic_in_memory":
            raise CatalogError(
                f"catalog type {options['type']!r} is not supported", hint="Write 'type' = 'generic_in_memory'."
            )
        self.catalogs[name] = {options.get("default-database", "default"): Database()}
        self.catalog_options[name] = options

    def drop_catalog(self, name: str, if_exists: bool = False) -> None:
        """Remove a catalog that is not current."""
        if name not in self.catalogs:
            if if_exists:
                return
            raise CatalogError(f"catalog {name!r} does not exist", hint=_near(name, self.catalogs))
        if name == self.current_catalog:
            raise CatalogError(f"catalog {name!r} is in use", hint="USE CATALOG another one first.")
        del self.catalogs[name]

    def create_database(self, path: tuple[str, ...], created: Database, if_not_exists: bool = False) -> None:
        """Add a database."""
        catalog, name = self.qualify(("", *path))[-2:] if len(path) == 2 else (self.current_catalog, path[0])
        databases = self.catalogs.get(catalog)
        if databases is None:
            raise CatalogError(f"catalog {catalog!r} does not exist", hint=_near(catalog, self.catalogs))
        if name in databases:
            if if_not_exists:
                return
            raise CatalogError(f"database {name!r} exists already in {catalog!r}")
        databases[name] = created

    def drop_database(self, path: tuple[str, ...], *, if_exists: bool = False, cascade: bool = False) -> None:
        """Remove a database; one with tables only with CASCADE."""
        catalog, name = path if len(path) == 2 else (self.current_catalog, path[0])
        if name not in self.catalogs.get(catalog, {}):
            if if_exists:
                return
            raise CatalogError(f"database {name!r} does not exist in {catalog!r}")
        if (catalog, name) == (self.current_catalog, self.current_database):
            raise CatalogError(f"database {name!r} is in use", hint="USE another one first.")
        if self.catalogs[catalog][name].objects and not cascade:
            raise CatalogError(f"database {name!r} is not empty", hint="Add CASCADE to drop its tables too.")
        del self.catalogs[catalog][name]

    def use_catalog(self, name: str) -> None:
        """Make a catalog current, with its first database."""
        if name not in self.catalogs:
            raise CatalogError(f"catalog {name!r} does not exist", hint=_near(name, self.catalogs))
        self.current_catalog, self.current_database = name, next(iter(self.catalogs[name]), "default")

    def use_database(self, path: tuple[str, ...]) -> None:
        """Make a database current."""
        catalog, name = path if len(path) == 2 else (self.current_catalog, path[0])
        self.database(catalog, name)
        self.current_catalog, self.current_database = catalog, name

    def create_function(
        self, path: tuple[str, ...], created: UserFunction, *, temporary: bool, system: bool, if_not_exists: bool
    ) -> None:
        """Add a function."""
        functions, key = self._function_place(path, temporary, system)
        if key in functions and not if_not_exists:
            raise CatalogError(f"function {quoted(path)} exists already")
        functions.setdefault(key, created)

    def drop_function(self, path: tuple[str, ...], *, temporary: bool, system: bool, if_exists: bool) -> None:
        """Remove a function."""
        functions, key = self._function_place(path, temporary, system)
        if functions.pop(key, None) is None and not if_exists:
            raise CatalogError(f"function {quoted(path)} does not exist")

    def find_function(self, path: tuple[str, ...]) -> UserFunction | None:
        """A function of the user; None if there is none."""
        if len(path) == 1 and path[0] in self.system_functions:
            return self.system_functions[path[0]]
        identifier = self.qualify(path)
        if identifier in self.temporary_functions:
            return self.temporary_functions[identifier]
        database = self.catalogs.get(identifier[0], {}).get(identifier[1])
        return database.functions.get(identifier[2]) if database else None

    def list_functions(self) -> list[str]:
        """Names of the user's functions that can be called without a database, sorted."""
        current = (self.current_catalog, self.current_database)
        temporary = {key[2] for key in self.temporary_functions if key[:2] == current}
        return sorted({*self.system_functions, *temporary, *self.database(*current).functions})

    def _place(self, identifier: Identifier, temporary: bool) -> tuple[dict[object, CatalogObject], object]:
        if temporary:
            return self.temporary_objects, identifier  # type: ignore[return-value]
        return self.database(*identifier[:2]).objects, identifier[2]  # type: ignore[return-value]

    def _function_place(
        self, path: tuple[str, ...], temporary: bool, system: bool
    ) -> tuple[dict[object, UserFunction], object]:
        if system:
            return self.system_functions, path[-1]  # type: ignore[return-value]
        identifier = self.qualify(path)
        if temporary:
            return self.temporary_functions, identifier  # type: ignore[return-value]
        return self.database(*identifier[:2]).functions, identifier[2]  # type: ignore[return-value]


def kind_of(found: CatalogObject) -> str:
    """TABLE or VIEW."""
    return "VIEW" if isinstance(found, View) else "TABLE"


def _near(name: str, names: object) -> str | None:
    near = get_close_matches(name, list(names), n=3)  # type: ignore[call-overload]
    return f"Did you mean {' or '.join(near)}?" if near else None
