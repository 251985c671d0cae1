"""Functions that restore programs call; fixtures name them, so they stay as they are."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from execnodes.core.expressions import Value
from execnodes.state.serializers.serializer import BytesSerializer, TypeSerializer
from execnodes.state.serializers.snapshot import (
    SchemaCompatibility,
    TypeSerializerSnapshot,
    compatible_as_is,
    incompatible,
)
from rekindle.udf import AggregateFunction, TableFunction, avro, udf, udtf


@udf
def shout(text: str) -> str:
    return text.upper() + "!"


@udf
async def asked(value: int) -> int | None:
    await asyncio.sleep(0)
    return None if value == 2 else value % 3


@udtf
def words(text: str) -> Iterator[tuple[str, int]]:
    for each in filter(None, text.split("-")):
        yield each, len(each)


class Countdown(TableFunction):
    """A class, whose rows are those of a list."""

    def eval(self, start: int) -> list[int]:
        return list(range(start, 0, -1))


@dataclass
class MeanState:
    total: float = 0.0
    weight: int = 0


class WeightedMean(AggregateFunction):
    """A dataclass as state; it takes rows back."""

    def create_accumulator(self) -> MeanState:
        return MeanState()

    def accumulate(self, accumulator: MeanState, value: int, weight: int) -> None:
        accumulator.total += value * weight
        accumulator.weight += weight

    def retract(self, accumulator: MeanState, value: int, weight: int) -> None:
        accumulator.total -= value * weight
        accumulator.weight -= weight

    def get_value(self, accumulator: MeanState) -> float | None:
        return accumulator.total / accumulator.weight if accumulator.weight else None


class LastTwo(AggregateFunction):
    """A ROW as state, with an array in it."""

    def create_accumulator(self) -> dict[str, Any]:
        return {"texts": [], "seen": 0}

    def accumulate(self, accumulator: dict[str, Any], text: str | None) -> None:
        accumulator["texts"] = [*accumulator["texts"], text][-2:]
        accumulator["seen"] += 1

    def get_value(self, accumulator: dict[str, Any]) -> str:
        return f"{accumulator['texts']} of {accumulator['seen']}"

    def get_accumulator_type(self) -> str:
        return "ROW<texts ARRAY<STRING>, seen BIGINT>"


class Texts(AggregateFunction):
    """A set, which is pickled."""

    def create_accumulator(self) -> set[str]:
        return set()

    def accumulate(self, accumulator: set[str], text: str) -> None:
        accumulator.add(text)

    def get_value(self, accumulator: set[str]) -> int:
        return len(accumulator)


class MergingMean(WeightedMean):
    """Rows are folded before they are shuffled."""

    def merge(self, accumulator: MeanState, accumulators: list[MeanState]) -> None:
        for each in accumulators:
            accumulator.total += each.total
            accumulator.weight += each.weight


class Longest(AggregateFunction):
    """An Avro record as state, with a record, an array, an enumeration and values that may be missing."""

    def create_accumulator(self) -> dict[str, Any]:
        return {"best": {"text": None, "size": -1}, "sizes": [], "parity": "EVEN", "digest": b""}

    def accumulate(self, accumulator: dict[str, Any], text: str | None) -> None:
        size = -1 if text is None else len(text)
        accumulator["sizes"] = [*accumulator["sizes"], size]
        accumulator["parity"] = "ODD" if accumulator["parity"] == "EVEN" else "EVEN"
        accumulator["digest"] = bytes([*accumulator["digest"], size % 256])[-4:]
        if size > accumulator["best"]["size"]:
            accumulator["best"] = {"text": text, "size": size}

    def get_value(self, accumulator: dict[str, Any]) -> str:
        best, digest = accumulator["best"], accumulator["digest"].hex()
        return f"{best['text']} of {accumulator['sizes']}, {accumulator['parity']}, {digest}"

    def get_accumulator_type(self) -> TypeSerializer:
        best = {
            "type": "record",
            "name": "Best",
            "fields": [{"name": "text", "type": ["null", "string"]}, {"name": "size", "type": "int"}],
        }
        fields = {
            "best": best,
            "sizes": {"type": "array", "items": "int"},
            "parity": {"type": "enum", "name": "Parity", "symbols": ["EVEN", "ODD"]},
            "digest": "bytes",
        }
        made = [{"name": name, "type": t} for name, t in fields.items()]
        return avro({"type": "record", "name": "Longest", "namespace": "restore", "fields": made})


class Tally(AggregateFunction):
    """Bytes of a serializer of the user's own as state; it takes rows back."""

    def create_accumulator(self) -> dict[str, int]:
        return {}

    def accumulate(self, accumulator: dict[str, int], text: str) -> None:
        accumulator[text] = accumulator.get(text, 0) + 1

    def retract(self, accumulator: dict[str, int], text: str) -> None:
        accumulator[text] -= 1

    def get_value(self, accumulator: dict[str, int]) -> str:
        return ", ".join(f"{text} {times}" for text, times in sorted(accumulator.items()) if times)

    def get_accumulator_type(self) -> TypeSerializer:
        return TallySerializer()


class TallySerializer(BytesSerializer):
    """JSON."""

    def serialize(self, value: dict[str, int]) -> bytes:
        return json.dumps(value, sort_keys=True).encode()

    def deserialize(self, data: bytes) -> dict[str, int]:
        found: dict[str, int] = json.loads(data)
        return found

    def snapshot(self) -> TypeSerializerSnapshot:
        return TallySnapshot()


class TallySnapshot(TypeSerializerSnapshot):
    """There is nothing to know but that it is JSON."""

    def write_snapshot(self) -> dict[str, Value]:
        return {"written": "json"}

    def read_snapshot(self, version: int, configuration: Mapping[str, Value]) -> None:
        if (version, configuration) != (1, {"written": "json"}):
            raise ValueError(f"version {version} of {configuration}")

    def restore_serializer(self) -> TypeSerializer:
        return TallySerializer()

    def resolve_schema_compatibility(self, old_snapshot: TypeSerializerSnapshot) -> SchemaCompatibility:
        same = isinstance(old_snapshot, TallySnapshot)
        return compatible_as_is() if same else incompatible("it was no tally")
