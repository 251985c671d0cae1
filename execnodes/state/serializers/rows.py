"""Accumulators that are ROWs of SQL: dicts in Python, a column a field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from execnodes.core.errors import FunctionError
from execnodes.core.expressions import Value
from execnodes.core.types import LogicalType, Root, parse_type, row
from execnodes.state.serializers.fields import migrate_fields, resolve_fields
from execnodes.state.serializers.serializer import TypeSerializer
from execnodes.state.serializers.snapshot import SchemaCompatibility, TypeSerializerSnapshot, incompatible
from execnodes.user_functions.rows import FieldDict


class RowSerializer(TypeSerializer):
    """Values of a dict as columns; a key that is missing is NULL."""

    name = "row"

    def __init__(self, type: LogicalType) -> None:
        """FunctionError if it is no ROW, or has no fields."""
        if type.root is not Root.ROW or not type.fields:
            raise FunctionError(
                f"{type} cannot be an accumulator", hint="Write a ROW, e.g. 'ROW<total DOUBLE, n BIGINT>'."
            )
        self._type = type

    def columns(self) -> LogicalType:
        """The fields."""
        return self._type

    def to_row(self, value: Any) -> Sequence[Any]:
        """Values in the order of the fields; of a `Row`, a list or a tuple by place."""
        if isinstance(value, Mapping):
            return [value.get(field.name) for field in self._type.fields]
        if len(value) != len(self._type.fields):
            raise ValueError(f"the accumulator {value!r} has not the {len(self._type.fields)} fields of {self._type}")
        return list(value)

    def from_row(self, row: Sequence[Any]) -> Any:
        """A dict, whose values are also found by place."""
        return FieldDict({field.name: value for field, value in zip(self._type.fields, row, strict=True)})

    def snapshot(self) -> TypeSerializerSnapshot:
        """The type."""
        return RowSnapshot(self._type)


class RowSnapshot(TypeSerializerSnapshot):
    """The type; a nullable field that is added is NULL."""

    def __init__(self, columns: LogicalType | None = None) -> None:
        self.columns = columns or row()

    @property
    def defaults(self) -> dict[str, Any]:
        """NULL for every field that may be."""
        return {field.name: None for field in self.columns.fields if field.type.nullable}

    def write_snapshot(self) -> dict[str, Value]:
        """The type as text."""
        return {"columns": str(self.columns)}

    def read_snapshot(self, version: int, configuration: Mapping[str, Value]) -> None:
        """See `write_snapshot`."""
        self.columns = parse_type(configuration["columns"])

    def restore_serializer(self) -> TypeSerializer:
        """Of the type."""
        return RowSerializer(self.columns)

    def resolve_schema_compatibility(self, old_snapshot: TypeSerializerSnapshot) -> SchemaCompatibility:
        """Nullable fields may come, and fields may go; types may not change."""
        if not isinstance(old_snapshot, RowSnapshot):
            return incompatible("the accumulator was no ROW")
        return resolve_fields(old_snapshot.columns, self.columns, self.defaults)

    def migrate_columns(
        self, old_snapshot: TypeSerializerSnapshot, columns: Mapping[str, Sequence[Any]], rows: int
    ) -> dict[str, Sequence[Any]]:
        """See `MigratesColumns`."""
        return migrate_fields(columns, [field.name for field in self.columns.fields], self.defaults, rows)
