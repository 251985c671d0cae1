"""Accumulators that are Avro records: dicts in Python, a column a field, by Avro's rules of resolution."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from execnodes.core.expressions import Value
from execnodes.core.types import LogicalType
from execnodes.state.serializers import avro_schema as schemas
from execnodes.state.serializers.serializer import TypeSerializer
from execnodes.state.serializers.snapshot import (
    SchemaCompatibility,
    TypeSerializerSnapshot,
    compatible_after_migration,
    compatible_as_is,
    incompatible,
)


class AvroSerializer(TypeSerializer):
    """Values of a dict as columns."""

    name = "avro"

    def __init__(self, schema: str | Mapping[str, Any]) -> None:
        """A record schema; FunctionError if it is none, or has a type that is not supported."""
        self._schema = schemas.parsed(schema)
        self._columns = schemas.columns(self._schema)

    def columns(self) -> LogicalType:
        """The fields."""
        return self._columns

    def to_row(self, value: Any) -> Sequence[Any]:
        """Values in the order of the fields."""
        return [value.get(field.name) for field in self._columns.fields]

    def from_row(self, row: Sequence[Any]) -> Any:
        """A dict."""
        return {field.name: value for field, value in zip(self._columns.fields, row, strict=True)}

    def snapshot(self) -> TypeSerializerSnapshot:
        """The schema."""
        return AvroSnapshot(self._schema)


class AvroSnapshot(TypeSerializerSnapshot):
    """The schema: what was written is resolved against what is read."""

    def __init__(self, schema: Mapping[str, Any] | None = None) -> None:
        self.schema: Mapping[str, Any] = schema or {}

    def write_snapshot(self) -> dict[str, Value]:
        """The schema as text."""
        return {"schema": json.dumps(self.schema, sort_keys=True, ensure_ascii=False)}

    def read_snapshot(self, version: int, configuration: Mapping[str, Value]) -> None:
        """See `write_snapshot`."""
        self.schema = schemas.parsed(str(configuration["schema"]))

    def restore_serializer(self) -> TypeSerializer:
        """Of the schema."""
        return AvroSerializer(self.schema)

    def resolve_schema_compatibility(self, old_snapshot: TypeSerializerSnapshot) -> SchemaCompatibility:
        """Avro's rules of resolution; names and namespaces of records stay."""
        if not isinstance(old_snapshot, AvroSnapshot):
            return incompatible("the accumulator was no Avro record")
        found = schemas.problem(old_snapshot.schema, self.schema)
        if found is not None:
            return incompatible(found)
        if schemas.essence(old_snapshot.schema) == schemas.essence(self.schema):
            return compatible_as_is()
        return compatible_after_migration("by Avro's rules of resolution")

    def migrate_columns(
        self, old_snapshot: TypeSerializerSnapshot, columns: Mapping[str, Sequence[Any]], rows: int
    ) -> dict[str, Sequence[Any]]:
        """See `MigratesColumns`."""
        assert isinstance(old_snapshot, AvroSnapshot)
        made: dict[str, Sequence[Any]] = {}
        for wanted in self.schema["fields"]:
            written = schemas.field_of(old_snapshot.schema, wanted)
            made[wanted["name"]] = (
                [schemas.default(wanted)] * rows
                if written is None
                else [schemas.converted(each, written["type"], wanted["type"]) for each in columns[written["name"]]]
            )
        return made


def avro(schema: str | Mapping[str, Any]) -> AvroSerializer:
    """What `get_accumulator_type` returns for accumulators that are Avro records: dicts in Python."""
    return AvroSerializer(schema)
