"""Rules of dataclasses and ROWs: fields may be added with defaults and removed, and nothing else may change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from execnodes.core.types import LogicalType
from execnodes.state.serializers.snapshot import (
    SchemaCompatibility,
    compatible_after_migration,
    compatible_as_is,
    incompatible,
)


def resolve_fields(old: LogicalType, new: LogicalType, defaults: Mapping[str, object]) -> SchemaCompatibility:
    """Whether rows of `old` become rows of `new`; `defaults` are the new fields that have one.

    A renamed field is one that is removed and one that is added: its values are lost, so it needs a default.
    """
    before = {field.name: field.type for field in old.fields}
    after = {field.name: field.type for field in new.fields}
    changed = [name for name, t in after.items() if name in before and not t.same_values(before[name])]
    if changed:
        (name, *_) = changed
        return incompatible(f"field {name} was {before[name]} and is {after[name]}: types of fields cannot change")
    added = [name for name in after if name not in before]
    bare = [name for name in added if name not in defaults]
    if bare:
        return incompatible(f"field {bare[0]} is new and has no default")
    removed = [name for name in before if name not in after]
    if not added and not removed:
        return compatible_as_is()
    texts = [f"{what} {', '.join(names)}" for what, names in (("added", added), ("removed", removed)) if names]
    return compatible_after_migration(f"fields {' and '.join(texts)}")


def migrate_fields(
    columns: Mapping[str, Sequence[Any]], names: Sequence[str], defaults: Mapping[str, Any], rows: int
) -> dict[str, Sequence[Any]]:
    """Columns that there are as they are, new ones filled with their defaults."""
    return {name: columns[name] if name in columns else [defaults[name]] * rows for name in names}
