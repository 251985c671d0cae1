"""What keeps a catalog: the protocol that every kind of catalog follows, and the kind that is kept in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from execnodes.core.errors import CatalogError

if TYPE_CHECKING:
    from planner.catalog.catalogs import CatalogObject


@dataclass(frozen=True, slots=True)
class Database:
    """What is known of a database beside its objects."""

    options: tuple[tuple[str, str], ...] = ()
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """A name of a database that means something else from now on."""

    name: str
    before: CatalogObject | None
    """What it has meant; None for a new name."""
    after: CatalogObject | None
    """None: the name is dropped."""


class CatalogStore(Protocol):
    """Databases of one catalog, and their permanent tables and views. Names are any text; case counts.

    A session asks again for each statement and keeps nothing, so a store may change behind it. What a store cannot do
    or read is a `CatalogError` (a broken file may be another `RekindleError`) that says where and what to do.
    """

    keeps_functions: bool
    """Whether permanent functions may be created; they are kept by the session."""

    def databases(self) -> Mapping[str, Database]:
        """All databases, by name; the first one is current after USE CATALOG."""

    def create_database(self, name: str, created: Database) -> bool:
        """Add a database; False if the name is taken."""

    def drop_database(self, name: str, *, cascade: bool) -> bool:
        """Remove a database and its objects; False if there are objects, unless `cascade`."""

    def names(self, database: str) -> Iterable[str]:
        """Names of the tables and views of a database that is there."""

    def find(self, database: str, name: str) -> CatalogObject | None:
        """A table or view; None if there is none, or no such database."""

    def change(self, database: str, *changes: Change) -> None:
        """Make all changes or none; CatalogError (`changed_meanwhile`) if a name does not mean `before` any longer."""


@runtime_checkable
class AlterableStore(Protocol):
    """A store whose databases can change."""

    def alter_database(self, name: str, changed: Database) -> None:
        """Put other options and another comment in the place of those of a database that is there."""


StoreType = Callable[[str, Mapping[str, str]], CatalogStore]
"""Opens the catalog of a name and its options; CatalogError for options that it does not know."""


def changed_meanwhile(name: str) -> CatalogError:
    """Somebody else was quicker."""
    return CatalogError(
        f"{name!r} has been created, changed or dropped by another session meanwhile", hint="Run the statement again."
    )


class MemoryStore:
    """A catalog that ends with its session."""

    keeps_functions = True

    def __init__(self, default_database: str = "default") -> None:
        self._databases = {default_database: Database()}
        self._objects: dict[str, dict[str, CatalogObject]] = {default_database: {}}

    def databases(self) -> Mapping[str, Database]:
        """In the order of their creation."""
        return self._databases

    def create_database(self, name: str, created: Database) -> bool:
        """Add a database."""
        if name in self._databases:
            return False
        self._databases[name], self._objects[name] = created, {}
        return True

    def alter_database(self, name: str, changed: Database) -> None:
        """Change a database."""
        self._databases[name] = changed

    def drop_database(self, name: str, *, cascade: bool) -> bool:
        """Remove a database."""
        if self._objects[name] and not cascade:
            return False
        del self._databases[name], self._objects[name]
        return True

    def names(self, database: str) -> Iterable[str]:
        """In the order of their creation."""
        return tuple(self._objects[database])

    def find(self, database: str, name: str) -> CatalogObject | None:
        """A table or view."""
        return self._objects.get(database, {}).get(name)

    def change(self, database: str, *changes: Change) -> None:
        """Make all changes or none."""
        objects = self._objects[database]
        for change in changes:
            if objects.get(change.name) != change.before:
                raise changed_meanwhile(change.name)
        for change in changes:
            if change.after is None:
                del objects[change.name]
            else:
                objects[change.name] = change.after


def memory_store(name: str, options: Mapping[str, str]) -> CatalogStore:
    """`'type' = 'generic_in_memory'`."""
    return MemoryStore(options.get("default-database", "default"))
