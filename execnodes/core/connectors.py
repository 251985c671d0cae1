"""Which changes connectors and formats emit and take; known at compile time, before any connector is loaded."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import StrEnum

from execnodes.core.changelog import INSERT_ONLY, RETRACT, UPSERT, ChangelogMode, RowKind

_CHANGELOG_FORMATS = frozenset({"debezium-json", "canal-json"})
"""Formats whose records carry a row kind."""
_UPSERT_SOURCES = frozenset({"upsert-kafka"})
"""Sources that give the newest row of a key, never its predecessor."""
_TAKES_ALL = frozenset({"print", "collect"})
_KEYED_SINKS = frozenset({"duckdb", "jdbc", "upsert-kafka"})
"""Sinks that find rows by primary key and so need no -U."""


class Takes(StrEnum):
    """What a sink can write."""

    INSERTS = "inserts"
    UPSERTS = "upserts"
    """Finds rows by primary key, so that it needs no -U; without a key inserts only."""
    CHANGES = "changes"


_registered_sources: dict[str, ChangelogMode] = {}
_registered_sinks: dict[str, Takes] = {}


def declare_source(connector: str, gives: ChangelogMode) -> None:
    """Say what a connector from outside gives."""
    _registered_sources[connector] = gives


def declare_sink(connector: str, takes: Takes) -> None:
    """Say what a connector from outside takes."""
    _registered_sinks[connector] = takes


def source_changelog_mode(options: Mapping[str, str]) -> ChangelogMode:
    """The kinds of row a table with these WITH options gives."""
    if _format(options) in _CHANGELOG_FORMATS:
        return RETRACT
    connector = options.get("connector", "")
    return UPSERT if connector in _UPSERT_SOURCES else _registered_sources.get(connector, INSERT_ONLY)


def filterable_columns(
    options: Mapping[str, str], physical: Collection[str], partition_keys: Collection[str]
) -> frozenset[str]:
    """Columns of a table by which its source itself can leave rows out: by folders, by what parquet says of itself."""
    if options.get("connector") != "filesystem" or _format(options) in _CHANGELOG_FORMATS:
        return frozenset()
    return frozenset(physical if _format(options) == "parquet" else partition_keys)


def sink_changelog_mode(
    options: Mapping[str, str], has_primary_key: bool, requested: ChangelogMode
) -> ChangelogMode | None:
    """The kinds of row the sink wants of those its query may give (`requested`); None if it cannot take them."""
    connector = options.get("connector", "")
    takes = _registered_sinks.get(connector)
    if options.get("changelog-mode") == "upsert" and connector == "collect":
        return requested.without(RowKind.UPDATE_BEFORE)
    if connector in _TAKES_ALL or takes is Takes.CHANGES or _format(options) in _CHANGELOG_FORMATS:
        return requested
    keyed = connector in _KEYED_SINKS or takes is Takes.UPSERTS
    if connector == "blackhole" or (keyed and has_primary_key):
        return requested.without(RowKind.UPDATE_BEFORE)
    if connector == "duckdb":
        # Without a key a row is deleted by its values, which needs every -U.
        return requested
    return INSERT_ONLY if requested.insert_only else None


def _format(options: Mapping[str, str]) -> str | None:
    return options.get("value.format", options.get("format"))
