"""Finding connectors: those in this folder, and those that other packages and programs register."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import iter_modules
from typing import TypeVar

import rekindle.connectors
from execnodes.core.connectors import declare_sink, declare_source
from execnodes.core.errors import ConnectorError
from rekindle.connectors.base import Connector, SinkConnector, SourceConnector
from rekindle.connectors.options import TableOptions

ENTRY_POINTS = "rekindle.connectors"
"""Group of entry points; each names a class."""
C = TypeVar("C", bound=type[Connector])
_registered: dict[str, Connector] = {}


def register(cls: C) -> C:
    """Make a connector known to this process, also as a decorator; ConnectorError if its identifier is taken."""
    connector = cls()
    known = next((each for each in (*_own(), *_registered.values()) if each.identifier == connector.identifier), None)
    if known is not None and _name(type(known)) != _name(cls):
        raise ConnectorError(
            f"the connector {connector.identifier!r} exists already",
            where=_name(cls),
            hint=f"Give it another identifier; that one belongs to {_name(type(known))}.",
        )
    _registered[connector.identifier] = connector
    if isinstance(connector, SourceConnector):
        declare_source(connector.identifier, connector.gives)
    if isinstance(connector, SinkConnector):
        declare_sink(connector.identifier, connector.takes)
    return cls


@lru_cache(maxsize=1)
def register_installed() -> None:
    """Register the connectors of installed packages (`ENTRY_POINTS`), once; ConnectorError names one that is broken."""
    for entry in entry_points(group=ENTRY_POINTS):
        where = f"entry point {entry.name} = {entry.value}"
        hint = "Correct or remove the package that has it."
        try:
            cls = entry.load()
        except (ImportError, AttributeError) as error:
            raise ConnectorError(f"a connector cannot be loaded: {error}", where=where, hint=hint) from error
        if not (inspect.isclass(cls) and issubclass(cls, Connector)):
            raise ConnectorError("it names no class of a connector", where=where, hint=hint)
        register(cls)


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _connectors() -> tuple[Connector, ...]:
    return (*_own(), *_registered.values())


@lru_cache(maxsize=1)
def _own() -> tuple[Connector, ...]:
    found = []
    for module_info in iter_modules(rekindle.connectors.__path__):
        module = import_module(f"{rekindle.connectors.__name__}.{module_info.name}")
        for _, member in inspect.getmembers(module, inspect.isclass):
            if (
                issubclass(member, Connector)
                and member.__module__ == module.__name__
                and not inspect.isabstract(member)
            ):
                found.append(member())
    return tuple(sorted(found, key=lambda connector: connector.identifier))


def identifiers(role: str | None = None) -> tuple[str, ...]:
    """Names of all connectors, or of those that can be a "source" or a "sink"."""
    wanted = {"source": SourceConnector, "sink": SinkConnector, None: Connector}[role]
    return tuple(sorted({each.identifier for each in _connectors() if isinstance(each, wanted)}))


def find_source(identifier: str, table: str = "") -> SourceConnector:
    """The connector that reads; ConnectorError with what exists if there is none."""
    for connector in _connectors():
        if connector.identifier == identifier and isinstance(connector, SourceConnector):
            return connector
    raise _missing(identifier, "source", table)


def find_sink(identifier: str, table: str = "") -> SinkConnector:
    """The connector that writes; ConnectorError with what exists if there is none."""
    for connector in _connectors():
        if connector.identifier == identifier and isinstance(connector, SinkConnector):
            return connector
    raise _missing(identifier, "sink", table)


def validate(options: Mapping[str, str], role: str, table: str = "") -> TableOptions:
    """Check a table's WITH options as a "source" or a "sink", without Spark and without touching the outside world."""
    identifier = options.get("connector", "")
    connector = find_source(identifier, table) if role == "source" else find_sink(identifier, table)
    return connector.check(options, role, table)


def require_bounded(options: Mapping[str, str], table: str) -> None:
    """ConnectorError for a source that never ends, and so cannot be read in batch mode."""
    if not find_source(options.get("connector", ""), table).reads_in_batch(options):
        raise endless(table)


def require_overwriting(options: Mapping[str, str], table: str) -> None:
    """ConnectorError for a sink that can only add rows."""
    identifier = options.get("connector", "")
    if not find_sink(identifier, table).overwrites:
        able = ", ".join(
            each.identifier for each in _connectors() if isinstance(each, SinkConnector) and each.overwrites
        )
        raise ConnectorError(
            f"the connector {identifier!r} cannot replace what a table holds",
            where=f"table {table}",
            hint=f"Write INSERT INTO; INSERT OVERWRITE is for {able}.",
        )


def endless(table: str) -> ConnectorError:
    """The error for a source without an end in batch mode."""
    return ConnectorError(
        "batch mode reads whole tables, but this one has no end",
        where=f"table {table}",
        hint="Bound the source with its options (e.g. 'number-of-rows' of datagen), or run in streaming mode: "
        "SET 'execution.runtime-mode' = 'streaming'.",
    )


def describe_failure(failure: BaseException | str) -> ConnectorError | None:
    """The error of a source's data behind a Spark exception or its text; None if it is about something else."""
    message = str(failure)
    for connector in _connectors():
        if isinstance(connector, SourceConnector):
            error = connector.describe_failure(message)
            if error is not None:
                return error
    return None


_VERBS = {"source": "reads", "sink": "writes"}


def _missing(identifier: str, role: str, table: str) -> ConnectorError:
    known = identifiers(role)
    where = f"table {table}" if table else None
    if not identifier:
        return ConnectorError(
            "the table has no 'connector' option", where=where, hint=f"Connectors for a {role}: {', '.join(known)}."
        )
    if identifier in identifiers():
        return ConnectorError(
            f"connector {identifier!r} cannot be used as a {role}",
            where=where,
            hint=f"Connectors for a {role}: {', '.join(known)}.",
        )
    near = difflib.get_close_matches(identifier, known, n=2)
    guess = f"Did you mean {' or '.join(near)}? " if near else ""
    return ConnectorError(
        f"unknown connector {identifier!r}",
        where=where,
        hint=f"{guess}Connectors for a {role}: {', '.join(known)}. Whatever else Spark {_VERBS[role]}, e.g. Kafka or "
        "JDBC, goes through 'connector' = 'spark' with 'format' = 'kafka'.",
    )
