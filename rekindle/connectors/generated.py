"""What generating connectors share: rows as Spark SQL texts over the number of the row."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from execnodes.core.errors import ConnectorError
from execnodes.lowering.stream import MAJOR, SEQUENCE
from rekindle.connectors.base import SourceFrame, SourceRequest
from rekindle.connectors.line_text import stream_name

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


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
    per_second: int,
) -> SourceFrame:
    """A source of `texts` over n; `rows` -1 for no end, `per_second` 0 for no pace.

    `shared`: names to texts that are computed once a row, step by step; `texts` may use the names.
    """
    start = int(json.loads(request.start)["n"]) if request.start else 0
    columns = [f"{text} AS c{i}" for i, text in enumerate(texts)]
    order = [f"n AS {SEQUENCE}", f"'' AS {MAJOR}"] if request.ordered else []
    if request.batch:
        numbers = spark.range(start, max(rows, start)).withColumnRenamed("id", "n")
    else:
        from rekindle.connectors.streams.number_reader import Numbers
        from rekindle.connectors.streams.numbers import number_stream

        wanted = Numbers(
            start=start,
            end=rows,
            per_second=per_second,
            max_rows=request.configuration.number("execution.micro-batch.max-rows"),
            parts=request.configuration.number("parallelism.default"),
            hold=int(request.hold),
        )
        numbers = number_stream(spark, stream_name(request.uid), wanted, f"table {request.name}")
    for step in shared:
        numbers = numbers.selectExpr("*", *(f"{text} AS {name}" for name, text in step.items()))
    return SourceFrame(numbers.selectExpr(*columns, *order), rows >= 0)


def ended(position: str | None, option: str, table: str) -> dict[str, str]:
    """The option that ends a generator before the row that would come next; ConnectorError if none had come."""
    if position is None:
        hint = "Nothing has been missed of it, so no state has to be made from it."
        raise ConnectorError("the savepoint's job had not read any row of it", where=f"table {table}", hint=hint)
    return {option: str(json.loads(position)["n"])}
