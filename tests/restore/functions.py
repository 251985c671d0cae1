"""Functions that restore programs call; fixtures name them, so they stay as they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from rekindle.udf import AggregateFunction, udf


@udf
def shout(text: str) -> str:
    return text.upper() + "!"


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
