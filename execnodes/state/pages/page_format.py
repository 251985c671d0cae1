"""What a page is: a compressed Arrow record batch behind the number of the layout it was written in.

Releases up to 1.5 wrote them. Layouts of a state follow one another where the serializer of an accumulator changes; a
page of an earlier one is converted when it is read.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from operator import attrgetter

import polars as pl
import pyarrow as pa

from execnodes.core.errors import StateError
from execnodes.state.operator import StateSpec

WRITTEN = "rk_written"
"""When a row was written last (epoch ms); only in state with a TTL."""
_HEADER = struct.Struct("<HI")
"""Number of the layout, from 1; length of the record batch before compression."""
_CODEC = pa.Codec("zstd", compression_level=1)


@dataclass(frozen=True, slots=True)
class PageLayout:
    """Columns of a state."""

    schema: dict[str, pl.DataType]
    """In kernels, with `WRITTEN` where there is a TTL."""
    stored: dict[str, pl.DataType]
    """In pages."""
    arrow: pa.Schema
    """In pages, for Arrow."""


@lru_cache(maxsize=256)
def layout(spec: StateSpec) -> PageLayout:
    """The layout in which a state is written."""
    schema = dict(spec.schema)
    if spec.ttl_ms:
        schema[WRITTEN] = pl.Int64()
    stored = {name: _storable(dtype) for name, dtype in schema.items()}
    # Plain string and binary layouts: a slice serialises to just the rows it holds, views would drag whole buffers.
    plain = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    found = pl.DataFrame(schema=stored).to_arrow().schema
    return PageLayout(
        schema, stored, pa.schema([pa.field(each.name, plain.get(each.type, each.type)) for each in found])
    )


@dataclass(frozen=True, slots=True)
class Page:
    """A page's rows as they are in memory."""

    number: int
    """Of the layout they were written in."""
    plain: pa.Buffer
    """The record batch."""

    @classmethod
    def decode(cls, data: bytes) -> Page:
        """Of the bytes that were kept."""
        number, size = _HEADER.unpack_from(data)
        return cls(number, decompress(pa.py_buffer(data).slice(_HEADER.size), size))


def decompress(data: bytes | memoryview | pa.Buffer, size: int) -> pa.Buffer:
    """`size`: how many they were."""
    return _CODEC.decompress(data, decompressed_size=size)


def decode(spec: StateSpec, pages: Sequence[Page]) -> tuple[pl.DataFrame, int]:
    """Rows of pages in their order, as the layout of today has them, and how many of them an earlier one had."""
    now = layout(spec)
    if not pages:
        return pl.DataFrame(schema=now.schema), 0
    frames, converted = [], 0
    for number, run in groupby(pages, attrgetter("number")):
        rows = _rows(spec, number, list(run))
        converted += len(rows) if number != spec.number else 0
        frames.append(rows)
    return (frames[0] if len(frames) == 1 else pl.concat(frames)), converted


def decode_pages(spec: StateSpec, pages: Iterable[bytes]) -> pl.DataFrame:
    """Rows of pages (`StateSpec.schema`, and `WRITTEN` with a TTL), for readers that stand outside an operator."""
    rows, _ = decode(spec, list(map(Page.decode, pages)))
    return rows


def _rows(spec: StateSpec, number: int, pages: Sequence[Page]) -> pl.DataFrame:
    if number > spec.number:
        raise StateError(
            f"a page of state {spec.name} has layout {number}, and only {spec.number} are known",
            hint="The job's folder is not whole; start from a savepoint.",
        )
    later = spec.former[number - 1 :]
    then = layout(replace(spec, columns=later[0].columns) if later else spec)
    table = pa.Table.from_batches([pa.ipc.read_record_batch(each.plain, then.arrow) for each in pages], then.arrow)
    rows = pl.DataFrame(table.combine_chunks())
    rows = rows.select(pl.col(name).cast(dtype) for name, dtype in then.schema.items())
    for each in later:
        rows = each.step(rows)
    return rows.select(list(layout(spec).schema)) if later else rows


def _storable(dtype: pl.DataType) -> pl.DataType:
    """Arrow has no 128-bit integer; a decimal of scale 0 holds the same numbers."""
    return pl.Decimal(38, 0) if dtype == pl.Int128 else dtype
