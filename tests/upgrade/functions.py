"""Functions that every release can import."""

from __future__ import annotations

from dataclasses import dataclass

from rekindle.udf import AggregateFunction


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
