"""What generating connectors share: rows as Spark SQL texts over the number of the row."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from execnodes.lowering.stream import MAJOR, SEQUENCE
from rekindle.connectors.base import SourceFrame, SourceRequest
from rekindle.connectors.in_tasks import frame_of_tasks
from rekindle.connectors.positions import News, no_position, parsed

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import SparkSession


_MOST = 500_000
"""Rows of a micro-batch without end and pace."""
_BYTES = 100
"""Of a row, about."""


def random_bits(seed: int, salt: str) -> str:
    """64 bits that depend on the row's number, the seed and a salt alone."""
    digest = hashlib.blake2b(f"{seed}/{salt}".encode(), digest_size=8).digest()
    return f"xxhash64(n, {int.from_bytes(digest, signed=True)}L)"


def random_below(seed: int, salt: str, bound: str) -> str:
    """A whole number from 0 to `bound` (a SQL text) less one."""
    return f"(shiftrightunsigned({random_bits(seed, salt)}, 1) % {bound})"


def random_unit(seed: int, salt: str) -> str:
    """A DOUBLE from 0 to below 1."""
    return f"(shiftrightunsigned({random_bits(seed, salt)}, 11) * 1.1102230246251565E-16D)"


def generated(
    spark: SparkSession,
    request: SourceRequest,
    shared: Sequence[Mapping[str, str]],
    texts: tuple[str, ...],
    rows: int,
) -> SourceFrame:
    """A source of `texts` over n; `rows` -1 for no end.

    `shared`: names to texts that are computed once a row, step by step; `texts` may use the names.
    """
    columns = [f"{text} AS c{i}" for i, text in enumerate(texts)]
    order = [f"n AS {SEQUENCE}", f"'' AS {MAJOR}"] if request.ordered else []
    if request.in_tasks:
        numbers = frame_of_tasks(spark, request.uid, _numbers, "n BIGINT")
    elif request.between is not None:
        before, after = request.between
        numbers = spark.range(_next(before), _next(after)).withColumnRenamed("id", "n")
    else:
        numbers = spark.range(0, max(rows, 0)).withColumnRenamed("id", "n")
    for step in shared:
        numbers = numbers.selectExpr("*", *(f"{text} AS {name}" for name, text in step.items()))
    return SourceFrame(numbers.selectExpr(*columns, *order), rows >= 0)


def _numbers(told: Sequence[int]) -> Iterator[pa.RecordBatch]:
    import numpy as np
    import pyarrow as pa

    yield pa.RecordBatch.from_pydict({"n": pa.array(np.arange(*told, dtype=np.int64))})


@dataclass(slots=True)
class NumberPositions:
    """Row numbers with a pace and bounds. Positions are ``{"n": next number}``."""

    table: str
    rows: int
    """-1 for no end."""
    per_second: int
    """0 for no pace."""
    max_rows: int
    """Of a micro-batch; 0 for no bound but where there is neither an end nor a pace."""
    clock: Callable[[], float] = time.monotonic
    _began: tuple[float, int] | None = None

    @property
    def bounded(self) -> bool:
        """See Positions."""
        return self.rows >= 0

    def plan(self, position: Any) -> News | None:
        """As far as pace and bounds allow."""
        at = self._known(position)
        latest = self._due(at)
        most = self.max_rows or (_MOST if self.rows < 0 and not self.per_second else 0)
        if self.rows >= 0:
            latest = min(latest, max(self.rows, at))
        if most:
            latest = min(latest, at + most)
        ended = 0 <= self.rows <= latest
        if latest <= at and not ended:
            return None
        after = latest + most if self.rows < 0 else min(latest + most, self.rows)
        known = most and not self.per_second and not ended
        return News({"n": latest}, ended, (lambda: {"n": after}) if known else None)

    def size(self, start: Any, end: Any) -> int:
        """See Positions."""
        return (_next(end) - _next(start)) * _BYTES

    def told(self, start: Any, end: Any) -> Any:
        """See ToldToTasks."""
        return _next(start), _next(end)

    def restored(self, text: str) -> Any:
        """See Positions."""
        return {"n": self._known(parsed(text))}

    def until(self, text: str) -> NumberPositions:
        """See Positions."""
        return NumberPositions(self.table, self._known(parsed(text)), 0, self.max_rows)

    def _known(self, position: Any) -> int:
        found = 0 if position is None else position.get("n") if isinstance(position, dict) else None
        if type(found) is not int or found < 0:
            raise no_position(position, "row numbers", self.table)
        return found

    def _due(self, at: int) -> int:
        if self.per_second == 0:
            return self.rows if self.rows >= 0 else at + _MOST
        if self._began is None:
            self._began = self.clock(), at
        since, base = self._began
        # The first second's numbers are there at once, so that no micro-batch is empty.
        return max(at, base + int((self.clock() - since + 1) * self.per_second))


def _next(position: Any) -> int:
    """The row number at a position."""
    return 0 if position is None else int(position["n"])
