"""What turns accumulators into columns of state and back."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

from execnodes.core.expressions import AccumulatorSchema
from execnodes.core.types import BYTES, Field, LogicalType, row
from execnodes.state.serializers.snapshot import TypeSerializerSnapshot


class TypeSerializer(ABC):
    """Accumulators of one type as rows of columns. Values in rows are those that functions see."""

    name = ""
    """By which plans know its snapshot; empty: by module and class of the snapshot."""

    @abstractmethod
    def columns(self) -> LogicalType:
        """A ROW: the columns of the state."""

    def hints(self) -> Sequence[Any]:
        """Type hints of the columns: nested ROWs become the dataclasses they name."""
        return [Any] * len(self.columns().fields)

    @abstractmethod
    def to_row(self, value: Any) -> Sequence[Any]:
        """The values of the columns."""

    @abstractmethod
    def from_row(self, row: Sequence[Any]) -> Any:
        """The accumulator. It may be changed in place, so it shares nothing with others."""

    @abstractmethod
    def snapshot(self) -> TypeSerializerSnapshot:
        """What there is to know of this serializer."""

    def schema(self) -> AccumulatorSchema:
        """The snapshot as plans and savepoints hold it."""
        snapshot = self.snapshot()
        cls = type(snapshot)
        return AccumulatorSchema(
            serializer=self.name or f"{cls.__module__}:{cls.__qualname__}",
            version=snapshot.VERSION,
            type=self.columns(),
            configuration=dict(sorted(snapshot.write_snapshot().items())),
        )


class BytesSerializer(TypeSerializer):
    """The base of serializers that users write: one column of bytes."""

    @abstractmethod
    def serialize(self, value: Any) -> bytes:
        """The bytes of an accumulator."""

    @abstractmethod
    def deserialize(self, data: bytes) -> Any:
        """The accumulator of bytes."""

    def columns(self) -> LogicalType:
        """One column."""
        return row(Field("value", BYTES))

    def to_row(self, value: Any) -> Sequence[Any]:
        """The bytes."""
        return (self.serialize(value),)

    def from_row(self, row: Sequence[Any]) -> Any:
        """The accumulator."""
        return self.deserialize(row[0])
