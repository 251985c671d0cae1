"""What connectors and formats can do: one module each, of data alone, so that compiling loads no connector.

``<identifier>.py`` (dashes are underscores) holds `CONNECTOR`, ``formats/<identifier>.py`` holds `FORMAT`; what does
the work has the same path below ``rekindle/connectors/``. Connectors from outside are added by `declare`.
The functions below answer what planner and nodes ask of a table.
"""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Mapping
from functools import lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import assert_never

from execnodes.connectors import formats as format_modules
from execnodes.core.changelog import INSERT_ONLY, ChangelogMode, RowKind
from execnodes.core.connectors import ConnectorDeclaration, FormatDeclaration, Jar, Options, Takes

_declared: dict[str, ConnectorDeclaration] = {}


def declare(declaration: ConnectorDeclaration) -> None:
    """Make the abilities of a connector from outside known to this process."""
    _declared[declaration.identifier] = declaration


@lru_cache(maxsize=1)
def own_connectors() -> Mapping[str, str]:
    """Identifiers of the connectors that are declared here, to the names of their modules."""
    return {each.name.replace("_", "-"): each.name for each in iter_modules(__path__) if not each.ispkg}


@lru_cache(maxsize=1)
def own_formats() -> Mapping[str, str]:
    """Identifiers of all formats, to the names of their modules."""
    return {each.name.replace("_", "-"): each.name for each in iter_modules(format_modules.__path__)}


def find_connector(identifier: str) -> ConnectorDeclaration | None:
    """What the connector of that name declares; None if there is none."""
    if identifier in own_connectors():
        own: ConnectorDeclaration = import_module(f"{__name__}.{own_connectors()[identifier]}").CONNECTOR
        return own
    return _declared.get(identifier)


def find_format(identifier: str) -> FormatDeclaration | None:
    """What the format of that name declares; None if there is none."""
    if identifier not in own_formats():
        return None
    own: FormatDeclaration = import_module(f"{format_modules.__name__}.{own_formats()[identifier]}").FORMAT
    return own


def connectors() -> tuple[ConnectorDeclaration, ...]:
    """All of them, by identifier."""
    known = (find_connector(each) for each in sorted({*own_connectors(), *_declared}))
    return tuple(each for each in known if each is not None)


def source_changelog_mode(options: Options) -> ChangelogMode:
    """The kinds of row a table with these WITH options gives."""
    connector, of_format = _of(options)
    # A connector that there is not, or that cannot be read, is refused by its name once the plan is made.
    if connector is None or connector.source is None:
        return INSERT_ONLY
    return of_format.gives if of_format is not None and of_format.changelog else connector.source.gives


def is_bounded(options: Options) -> bool:
    """Whether a table with these WITH options ends by itself; TRUE of one that will be refused by its connector."""
    connector = find_connector(options.get("connector", ""))
    return connector is None or connector.source is None or connector.source.bounded(options)


def lookup_problem(options: Options) -> str | None:
    """Why a table with these WITH options cannot be looked up by key: what to do about it; None if it can be."""
    connector, of_format = _of(options)
    if connector is None or connector.source is None:
        # It is refused by its name once the plan is made.
        return None
    if connector.source.lookups is None or _changelog(of_format):
        able = [each.identifier for each in connectors() if each.source is not None and each.source.lookups is not None]
        return f"Keep such a table with one of the connectors {', '.join(able)}, or join it without FOR SYSTEM_TIME."
    return connector.source.lookups(options)


def filterable_columns(options: Options, physical: Collection[str], partition_keys: Collection[str]) -> frozenset[str]:
    """Columns of a table by which its source itself can leave rows out."""
    connector, of_format = _of(options)
    # Of a changelog, rows of one update could be left out and the others not.
    if connector is None or connector.source is None or not connector.source.filters or _changelog(of_format):
        return frozenset()
    return frozenset(physical if of_format is not None and of_format.columnar else partition_keys)


def sink_changelog_mode(options: Options, has_primary_key: bool, requested: ChangelogMode) -> ChangelogMode | None:
    """The kinds of row the sink wants of those its query may give (`requested`); None if it cannot take them."""
    match _taken(options, has_primary_key):
        case Takes.CHANGES:
            return requested
        case Takes.UPSERTS:
            return requested.without(RowKind.UPDATE_BEFORE)
        case Takes.INSERTS:
            return INSERT_ONLY if requested.insert_only else None
        case never:
            assert_never(never)


def shows_rows(options: Options) -> bool:
    """Whether a table only shows what is written into it."""
    connector = find_connector(options.get("connector", ""))
    return connector is not None and connector.sink is not None and connector.sink.shows


def is_upsert_sink(options: Options, has_primary_key: bool, accepted: ChangelogMode) -> bool:
    """Whether rows of one primary key replace each other in the sink; `accepted`: what it takes of its query.

    A query that only inserts makes no upserts for a sink that does as its query says (Flink: ``print``, ``blackhole``).
    """
    if not has_primary_key or accepted.retract:
        return False
    connector, of_format = _of(options)
    if not accepted.insert_only or connector is None or connector.sink is None:
        return not accepted.insert_only
    return connector.sink.upserts_by_key(options) and not (of_format is not None and of_format.changelog)


def _taken(options: Options, has_primary_key: bool) -> Takes:
    connector, of_format = _of(options)
    if connector is None or connector.sink is None:
        return Takes.INSERTS
    taken = connector.sink.of(options, has_primary_key)
    return of_format.takes if of_format is not None and of_format.changelog else taken


def physical_identity(options: Options) -> Mapping[str, str]:
    """What of a table's options says which data outside it is, paths in one form; empty if nothing outside is.

    References to secrets stay what they are.
    """
    connector = find_connector(options.get("connector", ""))
    if connector is None or not connector.identity:
        return {}
    found = {key: options[key].strip() for key in connector.identity if key in options}
    paths = {key: _normal_path(value) for key, value in found.items() if key.rpartition(".")[2] == "path"}
    return {"connector": connector.identifier, **found, **paths}


def position_names_files(options: Options) -> bool:
    """Whether the position of a table's source names the files that were read."""
    connector = find_connector(options.get("connector", ""))
    return connector is not None and connector.source is not None and connector.source.position_by_path


def _normal_path(path: str) -> str:
    scheme, separator, rest = path.rpartition("://")
    local = not separator or scheme == "file"
    text = posixpath.normpath(rest.removeprefix("file:") or ".")
    return text if local else f"{scheme}://{text}"


def jars(options: Options) -> tuple[Jar, ...]:
    """What Spark must have for a table with these WITH options: for its connector and its formats."""
    connector = find_connector(options.get("connector", ""))
    if connector is None:
        return ()
    names = (options.get(key, "") for key in ("format", "value.format", "key.format"))
    used = [find_format(each) for each in names] if connector.formats or connector.keyed else []
    return tuple(dict.fromkeys(jar for each in (connector, *used) if each is not None for jar in each.jars))


def _of(options: Options) -> tuple[ConnectorDeclaration | None, FormatDeclaration | None]:
    connector = find_connector(options.get("connector", ""))
    if connector is None or not (connector.formats or connector.keyed):
        return connector, None
    # Of changes only the value tells.
    own = options.get("value.format", "") if connector.keyed else ""
    return connector, find_format(own or options.get("format", ""))


def _changelog(declared: FormatDeclaration | None) -> bool:
    return declared is not None and declared.changelog
