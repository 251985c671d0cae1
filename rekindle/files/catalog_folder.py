"""A catalog on disk: a folder with a JSON document for each database, table and view.

`catalog.json` says the format. A database is the folder `databases/<name>` with its `database.json`, a table or view
the document `objects/<name>.json` in there. Small letters, digits, ``_`` and ``-`` of a name stay as they are, all else
is the bytes of its UTF-8 (``%2f``): a name is never a path, and names that differ in case alone stay apart on every
disk. Each document has its name inside. It is written whole or not at all, under a lock of the folder.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import re
import secrets
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, TypeAdapter
from pydantic.alias_generators import to_camel

from execnodes.core.errors import CatalogError, JobError, PlanError
from execnodes.core.local_paths import PathError
from execnodes.core.secrets import literal_secrets
from execnodes.core.tables import ResolvedTable
from execnodes.core.types import LogicalType
from planner.catalog.catalogs import CatalogObject, View
from planner.catalog.store import Change, Database, changed_meanwhile
from plans.format.codec import plain
from plans.format.texts import refuse_wrong_texts
from rekindle.files.atomic_file import write_atomically
from rekindle.files.json_files import read_json
from rekindle.files.paths import entered

T = TypeVar("T")
FORMAT = 1
_HINT = "Mend or remove the file; a newer release may have written it."
_PLAIN = re.compile(rb"[a-z0-9_-]")
_LONGEST = 180
_LOCK = ".lock"
_NUL = b"\\u0000"
"""As JSON has it; half a surrogate pair is no JSON for who reads it."""
_OPTIONS = ("type", "path", "default-database")


class _Document(BaseModel):
    model_config = ConfigDict(extra="forbid", alias_generator=to_camel, validate_by_name=True)

    format_version: Literal[1]


class _Catalog(_Document):
    kind: Literal["CATALOG"]


class _Database(_Document):
    kind: Literal["DATABASE"]
    name: str
    options: dict[str, str] = {}
    comment: str | None = None


class _Object(_Document):
    kind: Literal["TABLE", "VIEW"]
    name: str
    table: ResolvedTable | None = None
    query: str | None = None
    """Of a view: its SQL, all names in full."""
    columns: tuple[str, ...] = ()
    types: tuple[LogicalType, ...] = ()
    """Of its columns, since 1.5."""
    comment: str | None = None


_CATALOG, _DATABASE, _OBJECT = TypeAdapter(_Catalog), TypeAdapter(_Database), TypeAdapter(_Object)


class CatalogFolder:
    """The databases, tables and views below a folder; other processes may change it at the same time."""

    keeps_functions = False

    def __init__(self, path: Path, default_database: str = "default") -> None:
        self._path, self._default = path, default_database
        with _told(path):
            path.mkdir(parents=True, exist_ok=True)
            # Whoever makes a catalog at the same time has locked the folder before there was anything else in it.
            strange = not (path / "catalog.json").exists() and any(path.iterdir())
            if strange and not (path / _LOCK).exists():
                raise CatalogError(
                    "the folder holds files, and no catalog", where=str(path), hint="Give an empty or a new folder."
                )
            with self._lock():
                if _read(path / "catalog.json", _CATALOG) is None:
                    _write(path / "catalog.json", {"formatVersion": FORMAT, "kind": "CATALOG"})
                if not self.databases():
                    self._write_database(default_database, Database())

    def databases(self) -> Mapping[str, Database]:
        """By name, the default one first."""
        with _told(self._path):
            paths = sorted((self._path / "databases").glob("*/database.json"))
            documents = [
                each for path in paths if (each := _read(path, _DATABASE)) and _is_named(each.name, path.parent)
            ]
        documents.sort(key=lambda each: (each.name != self._default, each.name))
        return {each.name: Database(tuple(each.options.items()), each.comment) for each in documents}

    def create_database(self, name: str, created: Database) -> bool:
        """Add a database."""
        _refuse_secrets(dict(created.options))
        with _told(self._path), self._lock():
            if (self._database(name) / "database.json").exists():
                return False
            self._write_database(name, created)
        return True

    def alter_database(self, name: str, changed: Database) -> None:
        """Change a database's options and comment."""
        _refuse_secrets(dict(changed.options))
        with _told(self._path), self._lock():
            self._write_database(name, changed)

    def drop_database(self, name: str, *, cascade: bool) -> bool:
        """Remove a database; it is gone at once, its files a moment later."""
        with _told(self._path), self._lock():
            if not cascade and any(self.names(name)):
                return False
            gone = self._path / f".dropped-{secrets.token_hex(8)}"
            self._database(name).rename(gone)
        shutil.rmtree(gone, ignore_errors=True)
        return True

    def names(self, database: str) -> Iterable[str]:
        """Sorted by the names of their files."""
        with _told(self._path):
            paths = sorted((self._database(database) / "objects").glob("*.json"))
            documents = [each for path in paths if (each := _read(path, _OBJECT)) and _is_named(each.name, path)]
        return [each.name for each in documents]

    def find(self, database: str, name: str) -> CatalogObject | None:
        """A table or view."""
        path = self._object(database, name)
        with _told(self._path):
            document = _read(path, _OBJECT)
        if document is None or not _is_named(document.name, path):
            return None
        if document.kind == "TABLE" and document.table is not None:
            return document.table
        if document.kind == "VIEW" and document.query is not None:
            return View(document.query, document.columns, document.comment, document.types)
        raise CatalogError(f"the document of a {document.kind.lower()} has none in it", where=str(path), hint=_HINT)

    def change(self, database: str, *changes: Change) -> None:
        """Make all changes, first to last: a crash while a table is renamed leaves it under both names."""
        with _told(self._path), self._lock():
            if not (self._database(database) / "database.json").exists():
                raise changed_meanwhile(database)
            for change in changes:
                if self.find(database, change.name) != change.before:
                    raise changed_meanwhile(change.name)
            documents = [None if each.after is None else _document(each.name, each.after) for each in changes]
            for change, document in zip(changes, documents, strict=True):
                path = self._object(database, change.name)
                if document is None:
                    path.unlink()
                else:
                    _write(path, document)

    def _database(self, name: str) -> Path:
        return self._path / "databases" / file_name(name)

    def _object(self, database: str, name: str) -> Path:
        return self._database(database) / "objects" / f"{file_name(name)}.json"

    def _write_database(self, name: str, created: Database) -> None:
        document = {"formatVersion": FORMAT, "kind": "DATABASE", "name": name, "options": dict(created.options)}
        _write(self._database(name) / "database.json", {**document, "comment": created.comment})

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """Keep other processes from changing the catalog meanwhile; the end of the process gives it back."""
        path = self._path / _LOCK
        if path.exists() and not path.is_file():
            raise CatalogError("the lock of the catalog is no file", where=str(path), hint="Remove it.")
        with path.open("a", encoding="utf-8") as handle:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield


def open_catalog_folder(name: str, options: Mapping[str, str]) -> CatalogFolder:
    """`'type' = 'file', 'path' = '…' [, 'default-database' = '…']`."""
    for key in options:
        if key not in _OPTIONS:
            known = ", ".join(f"'{each}'" for each in _OPTIONS)
            raise CatalogError(f"a catalog of type 'file' has no option {key!r}", hint=f"There is {known}.")
    if not options.get("path"):
        raise CatalogError(f"catalog {name!r} has no path", hint="Write 'path' = 'a folder'.")
    try:
        path = entered(options["path"])
    except PathError as error:
        raise CatalogError(error.message, where=error.where, hint="Give another 'path'.") from error
    found = CatalogFolder(path, options.get("default-database", "default"))
    if "default-database" in options and options["default-database"] not in found.databases():
        raise CatalogError(
            f"database {options['default-database']!r} does not exist in {name!r}",
            where=str(path),
            hint="Leave 'default-database' out and create it.",
        )
    return found


def file_name(name: str) -> str:
    """A name as a part of a path: plain, short enough, and another one for every name."""
    try:
        given = name.encode("utf-8")
    except UnicodeEncodeError as error:
        raise CatalogError(f"the name {name!r} is not UTF-8", hint="Give another name.") from error
    escaped = "".join(chr(each) if _PLAIN.match(bytes([each])) else f"%{each:02x}" for each in given) or "%"
    if len(escaped) <= _LONGEST:
        return escaped
    return f"{escaped[:100]}~{hashlib.sha256(given).hexdigest()}"


def _is_named(name: str, path: Path) -> bool:
    """CatalogError if a document stands under the name of another one, e.g. as somebody has copied it."""
    if file_name(name) != path.name.removesuffix(".json"):
        raise CatalogError(
            f"the document is that of {name!r}, by its file it is another one", where=str(path), hint=_HINT
        )
    return True


def _document(name: str, created: CatalogObject) -> dict[str, Any]:
    head = {"formatVersion": FORMAT, "name": name}
    if isinstance(created, ResolvedTable):
        _refuse_secrets(created.options or {})
        for column in created.table_schema.columns:
            _refuse_secrets({column.name: column.expression.serializable_string if column.expression else ""})
        return {**head, "kind": "TABLE", "table": plain(created)}
    if isinstance(created, View):
        _refuse_secrets({"query": created.text})
        types = [str(each) for each in created.types]
        body = {"query": created.text, "columns": created.columns, "types": types, "comment": created.comment}
        return {**head, "kind": "VIEW", **body}
    raise CatalogError(
        f"{name!r} is the query of a compiled plan or an inline table, which a catalog on disk cannot keep",
        hint="Create it as temporary.",
    )


def _refuse_secrets(texts: dict[str, str]) -> None:
    for key in literal_secrets(texts):
        raise CatalogError(
            f"{key!r} shows a secret, and a catalog on disk keeps none",
            hint="Write a reference: ${env:NAME} or ${file:PATH}.",
        )


def _read(path: Path, kind: TypeAdapter[T]) -> T | None:
    try:
        found = read_json(path, kind, hint=_HINT)
    except JobError as error:
        raise CatalogError(error.message, where=error.where, hint=error.hint) from error
    if found is not None and _NUL in (text := path.read_bytes()):
        _refuse_wrong_texts(path, json.loads(text))
    return found


def _write(path: Path, document: dict[str, Any]) -> None:
    _refuse_wrong_texts(path, document)
    write_atomically(path, json.dumps(document, indent=2, ensure_ascii=False) + "\n", replace=True)


def _refuse_wrong_texts(path: Path, document: dict[str, Any]) -> None:
    """As those of plans: no name, option or expression has a NUL, which nothing that they go to can take."""
    try:
        refuse_wrong_texts(document, json.dumps(document))
    except PlanError as error:
        raise CatalogError(error.message, where=f"{path}, {error.where}", hint="Give another name or text.") from error


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """What the disk refuses, in our words."""
    try:
        yield
    except OSError as error:
        what = f"the catalog cannot be read or written: {error.strerror}"
        raise CatalogError(
            what, where=str(error.filename or path), hint="Mend the folder or give another 'path'."
        ) from error
