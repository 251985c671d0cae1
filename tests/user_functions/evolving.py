"""Two ages of accumulators: what was, and what it has become."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, make_dataclass
from typing import Any

from execnodes.core.expressions import Value
from execnodes.state.serializers.serializer import BytesSerializer, TypeSerializer
from execnodes.state.serializers.snapshot import (
    SchemaCompatibility,
    TypeSerializerSnapshot,
    compatible_after_migration,
    compatible_as_is,
    compatible_with_reconfigured_serializer,
    incompatible,
)
from rekindle.udf import AggregateFunction


@dataclass
class State:
    """As it is today."""

    total: float = 0.0
    count: int = 0
    tags: list[str] = field(default_factory=list)


class JsonSerializer(BytesSerializer):
    """Written by a user: JSON, whose keys have a prefix since version 2."""

    def __init__(self, prefix: str = "v2:") -> None:
        self.prefix = prefix

    def serialize(self, value: Any) -> bytes:
        return json.dumps({f"{self.prefix}{key}": each for key, each in value.items()}).encode()

    def deserialize(self, data: bytes) -> Any:
        return {key.removeprefix(self.prefix): each for key, each in json.loads(data).items()}

    def snapshot(self) -> TypeSerializerSnapshot:
        return JsonSnapshot(self.prefix)


class JsonSnapshot(TypeSerializerSnapshot):
    """Judges the old one by its prefix."""

    VERSION = 2

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix

    def write_snapshot(self) -> dict[str, Value]:
        return {"prefix": self.prefix}

    def read_snapshot(self, version: int, configuration: Mapping[str, Value]) -> None:
        self.prefix = str(configuration["prefix"]) if version == 2 else ""

    def restore_serializer(self) -> TypeSerializer:
        return JsonSerializer(self.prefix)

    def resolve_schema_compatibility(self, old_snapshot: TypeSerializerSnapshot) -> SchemaCompatibility:
        if not isinstance(old_snapshot, JsonSnapshot):
            return incompatible("it was no JSON")
        if old_snapshot.prefix == self.prefix:
            return compatible_as_is()
        if old_snapshot.prefix == "lenient:":
            return compatible_with_reconfigured_serializer(JsonSerializer("lenient:"), "keys keep their prefix")
        return compatible_after_migration(f"prefix {old_snapshot.prefix!r}")


class OldSnapshot(JsonSnapshot):
    """Of before: the old snapshot is asked, and the new one knows nothing."""

    resolve_schema_compatibility = TypeSerializerSnapshot.resolve_schema_compatibility

    def resolve_schema_compatibility_with(self, new_serializer: TypeSerializer) -> SchemaCompatibility:
        same = isinstance(new_serializer, JsonSerializer) and new_serializer.prefix == self.prefix
        return compatible_as_is() if same else incompatible("another prefix")


def total_of(*fields: Any) -> type[AggregateFunction]:
    """SUM and what else its accumulator, a dataclass of these fields, holds; of every age under one name."""
    state: Any = make_dataclass("TotalState", fields)
    state.__module__ = "job"

    class Total(AggregateFunction):
        def create_accumulator(self) -> Any:
            return state()

        def accumulate(self, accumulator: Any, value: int) -> None:
            accumulator.total += value
            if hasattr(accumulator, "count"):
                accumulator.count += 1

        def get_value(self, accumulator: Any) -> int:
            # What was emitted before the savepoint is taken back after it, so it must not change.
            return int(accumulator.total)

        def get_accumulator_type(self) -> Any:
            return state

    return Total


Total = total_of(("total", int, 0), ("gone", str, "x"))
"""As it was; a test puts another one in its place."""
EvolvedTotal = total_of(("count", int, 100), ("total", int, 0))
"""As it is now."""
