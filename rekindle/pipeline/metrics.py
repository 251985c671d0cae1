"""The accumulator that operators report their counters to."""

from __future__ import annotations

from typing import Any


def merging() -> Any:
    """A Spark accumulator parameter for dictionaries: ``rows:`` values replace earlier ones, counters are summed."""
    from pyspark.accumulators import AccumulatorParam

    class Merging(AccumulatorParam[dict[Any, int]]):
        """Dictionaries; a later value replaces an earlier one, counters are summed."""

        def zero(self, value: dict[Any, int]) -> dict[Any, int]:
            return {}

        def addInPlace(self, first: dict[Any, int], second: dict[Any, int]) -> dict[Any, int]:  # noqa: N802
            for key, value in second.items():
                first[key] = value if key[1].startswith("rows:") else first.get(key, 0) + value
            return first

    return Merging()
