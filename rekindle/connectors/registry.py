"""Finding connectors: those in this folder, and those that other packages and programs register.

What a connector can do is asked of its declaration (`execnodes.connectors`); its class is loaded to check options, to
read and to write.
"""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Collection, Mapping
from functools import lru_cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import TypeVar

import rekindle.connectors
from execnodes.connectors import connectors, declare, find_connector, own_connectors
from execnodes.core.connectors import ConnectorDeclaration
from execnodes.core.errors import ConnectorError
from execnodes.core.tables import ResolvedTable
from rekindle.connectors.attributes import declaration_of
from rekindle.connectors.base import Connector, SinkConnector, SourceConnector
from rekindle.connectors.options import TableOptions, reject_misspelt, with_references

ENTRY_POINTS = "rekindle.connectors"
"""Group of entry points; each names a class."""
C = TypeVar("C", bound=type[Connector])
_registered: dict[str, Connector] = {}


def register(cls: C) -> C:
    """Make a connector known to this process, also as a decorator; ConnectorError if its identifier is taken."""
    connector = cls()
    declaration = declaration_of(connector)
    _require_agreement(connector, declaration)
    known = _find(connector.identifier)
    if known is not None and _name(type(known)) != _name(cls):
        raise ConnectorError(
            f"the connector {connector.identifier!r} exists already",
            where=_name(cls),
            hint=f"Give it another identifier; that one belongs to {_name(type(known))}.",
        )
    _registered[connector.identifier] = connector
    declare(declaration)
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


def _require_agreement(connector: Connector, declared: ConnectorDeclaration) -> None:
    can = (isinstance(connector, SourceConnector), isinstance(connector, SinkConnector))
    if can != (declared.source is not None, declared.sink is not None):
        raise ConnectorError(
            f"the connector {declared.identifier!r} is not what it declares",
            where=_name(type(connector)),
            hint="A declaration has `source` if the class is a SourceConnector, `sink` if it is a SinkConnector.",
        )


def _name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _find(identifier: str) -> Connector | None:
    return _own(identifier) if identifier in own_connectors() else _registered.get(identifier)


@lru_cache(maxsize=32)
def _own(identifier: str) -> Connector:
    """The one connector of the module that is called as it is."""
    module = import_module(f"{rekindle.connectors.__name__}.{own_connectors()[identifier]}")
    classes = (each for _, each in inspect.getmembers(module, inspect.isclass) if each.__module__ == module.__name__)
    return next(each() for each in classes if issubclass(each, Connector))


def identifiers(role: str | None = None) -> tuple[str, ...]:
    """Names of all connectors, or of those that can be a "source" or a "sink"."""
    return tuple(
        each.identifier
        for each in connectors()
        if role is None or (each.source if role == "source" else each.sink) is not None
    )


def find_source(identifier: str, table: str = "") -> SourceConnector:
    """The connector that reads; ConnectorError with what exists if there is none."""
    connector = _find(identifier)
    if isinstance(connector, SourceConnector):
        return connector
    raise _missing(identifier, "source", table)


def find_sink(identifier: str, table: str = "") -> SinkConnector:
    """The connector that writes; ConnectorError with what exists if there is none."""
    connector = _find(identifier)
    if isinstance(connector, SinkConnector):
        return connector
    raise _missing(identifier, "sink", table)


def waits_for_time(options: Mapping[str, str]) -> bool:
    """Whether what writes a table of these options needs the watermark; not where its connector is missing."""
    connector = _find(options.get("connector", ""))
    return isinstance(connector, SinkConnector) and connector.uses_time(options)


def validate(options: Mapping[str, str], role: str, table: str = "") -> TableOptions:
    """Check a table's WITH options as a "source" or a "sink", without Spark and without touching the outside world."""
    reject_misspelt(options, "connector", table)
    identifier = options.get("connector", "")
    connector = find_source(identifier, table) if role == "source" else find_sink(identifier, table)
    return connector.check(options, role, table)


def validate_table(table: ResolvedTable, read: Collection[str], role: str, name: str) -> None:
    """As `validate`, and check that the connector can read the columns `read`, or write all, metadata columns apart."""
    options = table.options or {}
    checked = validate(options, role, name)
    if with_references("".join(options.values()), lambda kind, source: "x") != "".join(options.values()):
        # What an option holds is known when the connector opens.
        return
    columns = tuple(
        column
        for column in table.table_schema.physical
        if (role == "sink" or column.name in read) and column.name not in table.partition_keys
    )
    connector = find_source(options["connector"], name) if role == "source" else find_sink(options["connector"], name)
    connector.check_columns(columns, checked, name)


def require_bounded(options: Mapping[str, str], table: str) -> None:
    """ConnectorError for a source that never ends, and so cannot be read in batch mode."""
    identifier = options.get("connector", "")
    declared = find_connector(identifier)
    if declared is None or declared.source is None:
        raise _missing(identifier, "source", table)
    if not (declared.source.whole or declared.source.bounded(options)):
        raise endless(table)


def require_overwriting(options: Mapping[str, str], table: str) -> None:
    """ConnectorError for a sink that can only add rows."""
    identifier = options.get("connector", "")
    declared = find_connector(identifier)
    if declared is None or declared.sink is None:
        raise _missing(identifier, "sink", table)
    if not declared.sink.overwrites:
        able = ", ".join(each.identifier for each in connectors() if each.sink is not None and each.sink.overwrites)
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
    for connector in map(_find, identifiers("source")):
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
    from rekindle.connectors.jars import kafka_package

    near = difflib.get_close_matches(identifier, known, n=2)
    guess = f"Did you mean {' or '.join(near)}? " if near else ""
    return ConnectorError(
        f"unknown connector {identifier!r}",
        where=where,
        hint=f"{guess}Connectors for a {role}: {', '.join(known)}. Whatever else Spark {_VERBS[role]} goes through "
        "'connector' = 'spark': Kafka with 'spark.format' = 'kafka', which needs "
        f"-D spark.jars.packages={kafka_package()}, JDBC with "
        "'spark.format' = 'jdbc', which needs the driver's jar (-D spark.jars=…).",
    )
