"""Spark's `xxhash64` without a JVM: 64-bit xxHash (Collet), chained over columns, of many rows at once."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

if TYPE_CHECKING:
    Words = NDArray[np.uint64]

_P1, _P2, _P3, _P4, _P5 = (
    np.uint64(each)
    for each in (
        0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5,
    )
)  # fmt: skip
_SEED = 42
"""Spark's."""


def hashes(slots: Iterable[pa.Array], rows: int) -> NDArray[np.int64]:
    """Hash of each row; `slots` are the key's columns in their order (int64, double, string or binary).

    A null leaves the hash of the columns before it; rows without a key hash to 0, as frames have it.
    """
    found: Words | None = None
    for column in slots:
        before = np.full(rows, _SEED, np.uint64) if found is None else found
        found = _hashed(column, before)
        if column.null_count:
            found = np.where(np.asarray(column.is_null()), before, found)
    return np.zeros(rows, np.int64) if found is None else found.view(np.int64)


def _hashed(column: pa.Array, seeds: Words) -> Words:
    if pa.types.is_integer(column.type):
        return _of_words(_numbers(column, 0).astype(np.int64).view(np.uint64), seeds)
    if pa.types.is_floating(column.type):
        # Negative zero counts as zero; there is one NaN.
        doubles = _numbers(column, 0.0).astype(np.float64) + 0.0
        return _of_words(np.where(np.isnan(doubles), np.nan, doubles).view(np.uint64), seeds)
    return _of_bytes(column.cast(pa.large_binary()), seeds)


def _numbers(column: pa.Array, instead: float) -> NDArray[Any]:
    found: NDArray[Any] = column.fill_null(instead).to_numpy(zero_copy_only=False)
    return found


def _of_words(values: Words, seeds: Words) -> Words:
    hashes = seeds + _P5 + np.uint64(8)
    hashes ^= _rotated(values * _P2, 31) * _P1
    return _mixed(_rotated(hashes, 27) * _P1 + _P4)


def _of_bytes(column: pa.LargeBinaryArray, seeds: Words) -> Words:
    """XXH64 of texts, those of equal length at once."""
    _, offsets_buffer, data_buffer = column.buffers()
    offsets = np.frombuffer(offsets_buffer, np.int64)[column.offset : column.offset + len(column) + 1]
    data = np.frombuffer(data_buffer or b"", np.uint8)
    lengths = np.diff(offsets)
    hashes = np.empty(len(column), np.uint64)
    for length in np.unique(lengths):
        chosen = np.flatnonzero(lengths == length)
        content = data[offsets[chosen][:, None] + np.arange(length)]
        hashes[chosen] = _of_equal_length(np.ascontiguousarray(content), int(length), seeds[chosen])
    return hashes


def _of_equal_length(content: NDArray[np.uint8], length: int, seeds: Words) -> Words:
    """`content` has a row for each text."""
    at = 0
    if length >= 32:
        lanes = [seeds + _P1 + _P2, seeds + _P2, seeds.copy(), seeds - _P1]
        while at + 32 <= length:
            lanes = [_rotated(lane + _word(content, at + 8 * i) * _P2, 31) * _P1 for i, lane in enumerate(lanes)]
            at += 32
        hashes = sum((_rotated(lane, n) for lane, n in zip(lanes, (1, 7, 12, 18), strict=True)), np.zeros_like(seeds))
        for lane in lanes:
            hashes = (hashes ^ (_rotated(lane * _P2, 31) * _P1)) * _P1 + _P4
    else:
        hashes = seeds + _P5
    hashes = hashes + np.uint64(length)
    while at + 8 <= length:
        hashes = _rotated(hashes ^ (_rotated(_word(content, at) * _P2, 31) * _P1), 27) * _P1 + _P4
        at += 8
    if at + 4 <= length:
        half = np.ascontiguousarray(content[:, at : at + 4]).view("<u4")[:, 0].astype(np.uint64)
        hashes = _rotated(hashes ^ (half * _P1), 23) * _P2 + _P3
        at += 4
    for i in range(at, length):
        hashes = _rotated(hashes ^ (content[:, i].astype(np.uint64) * _P5), 11) * _P1
    return _mixed(hashes)


def _word(content: NDArray[np.uint8], at: int) -> Words:
    return np.ascontiguousarray(content[:, at : at + 8]).view("<u8")[:, 0].astype(np.uint64)


def _rotated(values: Words, bits: int) -> Words:
    return (values << np.uint64(bits)) | (values >> np.uint64(64 - bits))


def _mixed(values: Words) -> Words:
    values = (values ^ (values >> np.uint64(33))) * _P2
    values = (values ^ (values >> np.uint64(29))) * _P3
    return values ^ (values >> np.uint64(32))
