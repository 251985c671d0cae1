"""Accumulators that are one value of SQL, an ARRAY or a MAP for one: a column of that type."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from execnodes.core.expressions import Value
from execnodes.core.types import Field, LogicalType, parse_type, row
from execnodes.state.serializers.serializer import TypeSerializer
from execnodes.state.serializers.snapshot import (
    SchemaCompatibility,
    TypeSerializerSnapshot,
    compatible_as_is,
    incompatible,
)


class ValueSerializer(TypeSerializer):
    """The value as the only column."""

    name = "value"

    def __init__(self, type: LogicalType) -> None:
        self._type = type

    def columns(self) -> LogicalType:
        """One column of the type."""
        return row(Field("value", self._type))

    def to_row(self, value: Any) -> Sequence[Any]:
        """The value."""
        return (value,)

    def from_row(self, row: Sequence[Any]) -> Any:
        """The value."""
        return row[0]

    def snapshot(self) -> TypeSerializerSnapshot:
        """The type."""
        return ValueSnapshot(self._type)


class ValueSnapshot(TypeSerializerSnapshot):
    """The type, which cannot change."""

    def __init__(self, type: LogicalType | None = None) -> None:
        self.type = type or row()

    def write_snapshot(self) -> dict[str, Value]:
        """The type as text."""
        return {"type": str(self.type)}

    def read_snapshot(self, version: int, configuration: Mapping[str, Value]) -> None:
        """See `write_snapshot`."""
        self.type = parse_type(configuration["type"])

    def restore_serializer(self) -> TypeSerializer:
        """Of the type."""
        return ValueSerializer(self.type)

    def resolve_schema_compatibility(self, old_snapshot: TypeSerializerSnapshot) -> SchemaCompatibility:
        """Only the same type goes on."""
        if not isinstance(old_snapshot, ValueSnapshot):
            return incompatible("the accumulator was not one value")
        if not self.type.same_values(old_snapshot.type):
            return incompatible(f"the accumulator was {old_snapshot.type} and is {self.type}")
        return compatible_as_is()
