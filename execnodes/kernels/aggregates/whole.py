"""Groups all of whose rows are there at once: their aggregation finds no state, and leaves none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from execnodes.state.operator import Context, State, StateSpec


@dataclass
class Nothing(Context):
    """A context whose states are empty, and forget what is put into them."""

    states: tuple[StateSpec, ...]
    watermark: int | None = None
    now: int = 0

    def state(self, name: str) -> State:
        """One of the states."""
        return _Empty(next(each for each in self.states if each.name == name))

    def wake_at(self, watermark: int) -> None:
        """Nothing wakes."""

    def count(self, metric: str, rows: int) -> None:
        """Nothing is counted."""


@dataclass
class _Empty(State):
    spec: StateSpec

    def read(self, addresses: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame(schema=self.spec.schema)

    def write(self, rows: pl.DataFrame) -> None:
        pass

    def append(self, rows: pl.DataFrame) -> None:
        pass

    def expire(self, until: int) -> pl.DataFrame:
        return pl.DataFrame(schema=self.spec.schema)

    def scan(self) -> pl.DataFrame:
        return pl.DataFrame(schema=self.spec.schema)

    def buckets(self) -> Sequence[int]:
        return ()
