"""Accumulators that only pickle can write: nobody can tell what is in them, so they never evolve."""

from __future__ import annotations

import io
import pickle
from collections.abc import Mapping
from typing import Any

from execnodes.core import consent
from execnodes.core.errors import StateError
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
        self.allowed = consent.granted()

    def serialize(self, value: Any) -> bytes:
        """Pickled."""
        return pickle.dumps(value, protocol=5)

    def deserialize(self, data: bytes) -> Any:
        """Unpickled; StateError for classes of modules that are not allowed: bytes of a savepoint call nothing else."""
        return _Unpickler(io.BytesIO(data), self.allowed).load()

    def snapshot(self) -> TypeSerializerSnapshot:
        """The name is all there is to know."""
        return PickleSnapshot(self.shown)


_HARMLESS = {
    "builtins": {"bytearray", "complex", "frozenset", "list", "dict", "set", "tuple", "range", "slice", "object"},
    "collections": {"Counter", "OrderedDict", "defaultdict", "deque"},
    "datetime": {"date", "datetime", "time", "timedelta", "timezone"},
    "decimal": {"Decimal"},
    "fractions": {"Fraction"},
    "uuid": {"UUID"},
    "copyreg": {"_reconstructor"},
    "_codecs": {"encode"},
    "execnodes.core.changelog": {"RowKind"},
    "execnodes.user_functions.rows": {"name_values"},
    "execnodes.user_functions.data_views": {"ListView", "MapView"},
}
"""What values of Python itself, and rows, are made of."""


class _Unpickler(pickle.Unpickler):
    """Finds only what is harmless or allowed."""

    def __init__(self, file: io.BytesIO, allowed: frozenset[str]) -> None:
        super().__init__(file)
        self._allowed = allowed

    def find_class(self, module: str, name: str) -> Any:
        """StateError for anything else."""
        if name in _HARMLESS.get(module, ()) or consent.allows(module, self._allowed):
            return super().find_class(module, name)
        raise StateError(
            f"a pickled accumulator holds {module}.{name}, which is not allowed to be imported",
            hint=f"If you trust it, allow it: -D {consent.OPTION}={module}, or SET '{consent.OPTION}' = '{module}'.",
        )


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
