"""Accumulators that only pickle can write: nobody can tell what is in them, so they never evolve."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

from execnodes.core.expressions import Value
from execnodes.state.serializers.serializer import BytesSerializer, TypeSerializer
from execnodes.state.serializers.snapshot import (
    SchemaCompatibility,
    TypeSerializerSnapshot,
    compatible_as_is,
    incompatible,
)


class PickleSerializer(BytesSerializer):
    """Python's pickle."""

    name = "pickle"

    def __init__(self, shown: str) -> None:
        """`shown`: the hint of the accumulator, or how it is called."""
        self.shown = shown

    def serialize(self, value: Any) -> bytes:
        """Pickled."""
        return pickle.dumps(value, protocol=5)

    def deserialize(self, data: bytes) -> Any:
        """Unpickled."""
        return pickle.loads(data)

    def snapshot(self) -> TypeSerializerSnapshot:
        """The name is all there is to know."""
        return PickleSnapshot(self.shown)


class PickleSnapshot(TypeSerializerSnapshot):
    """The name of what is pickled."""

    def __init__(self, shown: str = "") -> None:
        self.shown = shown

    def write_snapshot(self) -> dict[str, Value]:
        """The name."""
        return {"pickled": self.shown}

    def read_snapshot(self, version: int, configuration: Mapping[str, Value]) -> None:
        """See `write_snapshot`."""
        self.shown = str(configuration["pickled"])

    def restore_serializer(self) -> TypeSerializer:
        """Pickle."""
        return PickleSerializer(self.shown)

    def resolve_schema_compatibility(self, old_snapshot: TypeSerializerSnapshot) -> SchemaCompatibility:
        """The same name goes on as it is; nothing else."""
        if isinstance(old_snapshot, PickleSnapshot) and old_snapshot.shown == self.shown:
            return compatible_as_is()
        return incompatible("pickled state cannot evolve, and nothing else can become pickled")
