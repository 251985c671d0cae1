"""State that one serializer has written as another one wants it: column by column where snapshots tell how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from execnodes.core.expressions import AccumulatorSchema
from execnodes.state.serializers.make import snapshot_of
from execnodes.state.serializers.snapshot import CompatibilityType, TypeSerializerSnapshot


@dataclass(frozen=True, slots=True)
class AccumulatorChange:
    """One accumulator whose columns must be converted."""

    title: str
    """The call, for people."""
    reason: str
    before: AccumulatorSchema
    after: AccumulatorSchema
    olds: Mapping[str, str]
    """Fields before to columns of the state as it was."""
    news: Mapping[str, str]
    """Fields after to columns of the state as it will be."""


@runtime_checkable
class MigratesColumns(Protocol):
    """A snapshot that knows each new column from the old ones, so that no accumulator is made."""

    def migrate_columns(
        self, old_snapshot: TypeSerializerSnapshot, columns: Mapping[str, Sequence[Any]], rows: int
    ) -> dict[str, Sequence[Any]]:
        """Columns of the old snapshot (values as functions see them) to those of this one; called after the verdict."""
        ...


def migrate(
    before: AccumulatorSchema, after: AccumulatorSchema, columns: Mapping[str, Sequence[Any]], rows: int
) -> dict[str, Sequence[Any]]:
    """Columns of `before` (values as functions see them) to those of `after`; the verdict was not incompatible."""
    old, new = snapshot_of(before), snapshot_of(after)
    if isinstance(new, MigratesColumns):
        return new.migrate_columns(old, columns, rows)
    found = new.resolve_schema_compatibility(old)
    writer = new.restore_serializer()
    reads_as_is = (
        found.verdict is CompatibilityType.COMPATIBLE_WITH_RECONFIGURED_SERIALIZER and found.reconfigured is not None
    )
    reader = found.reconfigured if reads_as_is and found.reconfigured is not None else old.restore_serializer()
    names = [field.name for field in before.type.fields]
    made = [writer.to_row(reader.from_row(row)) for row in zip(*(columns[name] for name in names), strict=True)]
    return {field.name: [row[at] for row in made] for at, field in enumerate(after.type.fields)}
