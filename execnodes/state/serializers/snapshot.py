"""Serializer snapshots: what a serializer was, kept with the state that it wrote (Flink's FLIP-263)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from execnodes.core.errors import FunctionError
from execnodes.core.expressions import Value

if TYPE_CHECKING:
    from execnodes.state.serializers.serializer import TypeSerializer


class CompatibilityType(StrEnum):
    """Whether a new serializer can go on with what an older one has written."""

    COMPATIBLE_AS_IS = "compatible as is"
    COMPATIBLE_AFTER_MIGRATION = "compatible after migration"
    """The old serializer reads, the new one writes."""
    COMPATIBLE_WITH_RECONFIGURED_SERIALIZER = "compatible with a reconfigured serializer"
    """Nothing is rewritten; another serializer than the new one goes on."""
    INCOMPATIBLE = "incompatible"


@dataclass(frozen=True, slots=True)
class SchemaCompatibility:
    """A verdict and why."""

    verdict: CompatibilityType
    reason: str = ""
    reconfigured: TypeSerializer | None = None
    """The serializer to go on with, if it is not the new one."""


def compatible_as_is() -> SchemaCompatibility:
    """State goes on unchanged."""
    return SchemaCompatibility(CompatibilityType.COMPATIBLE_AS_IS)


def compatible_after_migration(reason: str) -> SchemaCompatibility:
    """State is read by the old serializer and written by the new one."""
    return SchemaCompatibility(CompatibilityType.COMPATIBLE_AFTER_MIGRATION, reason)


def compatible_with_reconfigured_serializer(serializer: TypeSerializer, reason: str = "") -> SchemaCompatibility:
    """State goes on unchanged under `serializer`."""
    return SchemaCompatibility(CompatibilityType.COMPATIBLE_WITH_RECONFIGURED_SERIALIZER, reason, serializer)


def incompatible(reason: str) -> SchemaCompatibility:
    """State cannot go on."""
    return SchemaCompatibility(CompatibilityType.INCOMPATIBLE, reason)


class TypeSerializerSnapshot(ABC):
    """What there is to know of a serializer. Subclasses are made without arguments and filled by `read_snapshot`."""

    VERSION: ClassVar[int] = 1
    """Of what `write_snapshot` gives."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if not (_judges(cls) or _is_asked(cls)):
            raise FunctionError(
                f"snapshot {cls.__qualname__} does not say what it is compatible with",
                hint="Write resolve_schema_compatibility(self, old_snapshot).",
            )

    @abstractmethod
    def write_snapshot(self) -> dict[str, Value]:
        """All that `read_snapshot` needs."""

    @abstractmethod
    def read_snapshot(self, version: int, configuration: Mapping[str, Value]) -> None:
        """Become what wrote this; `version` is the `VERSION` of then."""

    @abstractmethod
    def restore_serializer(self) -> TypeSerializer:
        """The serializer as it was, to read what it has written."""

    def resolve_schema_compatibility(self, old_snapshot: TypeSerializerSnapshot) -> SchemaCompatibility:
        """Whether the serializer of this, the new snapshot, can go on with what that of the old one has written."""
        if _is_asked(type(old_snapshot)):
            return old_snapshot.resolve_schema_compatibility_with(self.restore_serializer())
        return incompatible(_NOBODY)

    def resolve_schema_compatibility_with(self, new_serializer: TypeSerializer) -> SchemaCompatibility:
        """Deprecated: the same question to the old snapshot, which knows nothing of what came after it.

        It is asked where the new snapshot has no answer of its own.
        """
        new_snapshot = new_serializer.snapshot()
        return new_snapshot.resolve_schema_compatibility(self) if _judges(type(new_snapshot)) else incompatible(_NOBODY)


_NOBODY = "neither snapshot can judge the other: the new one has no resolve_schema_compatibility"


def _judges(cls: type[TypeSerializerSnapshot]) -> bool:
    return cls.resolve_schema_compatibility is not TypeSerializerSnapshot.resolve_schema_compatibility


def _is_asked(cls: type[TypeSerializerSnapshot]) -> bool:
    return cls.resolve_schema_compatibility_with is not TypeSerializerSnapshot.resolve_schema_compatibility_with
