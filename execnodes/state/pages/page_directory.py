"""What there is of one state of one subtask: pages, their segments and rows, and the overlay above them."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from execnodes.state.pages.page_format import compress, decompress

_MAGIC = b"rkpages2"
"""Before 1.3 a directory began with the number of its first bucket, which is never as large as this."""
_HEAD = struct.Struct("<qqiI")
"""Version, rows that the overlay adds, its segments, length of what follows."""
_BUCKET_HEAD = struct.Struct("<qi")


@dataclass(slots=True)
class Bucket:
    """Pages of one bucket: `segments[p]` and `rows[p]` of page p."""

    segments: npt.NDArray[np.int32]
    rows: npt.NDArray[np.int64]

    @property
    def mask(self) -> int:
        """Bits of the hash that choose the page."""
        return len(self.segments) - 1

    @classmethod
    def empty(cls, pages: int = 1) -> Bucket:
        """A bucket without rows."""
        return cls(np.zeros(pages, np.int32), np.zeros(pages, np.int64))


@dataclass(slots=True)
class Directory:
    """All buckets of one state of one subtask."""

    buckets: dict[int, Bucket] = field(default_factory=dict)
    version: int = 0
    """Of the pages: whoever writes one gives them another, at random; 0 if a release before 1.3 has written them."""
    overlay: list[int] = field(default_factory=list)
    """Versions of the overlay's segments, the oldest first."""
    added: int = 0
    """Rows that there are more (or fewer) than in the pages, since the overlay covers some."""

    @property
    def total_rows(self) -> int:
        """Rows in all buckets, expired ones included until they are met."""
        return self.added + int(sum(bucket.rows.sum() for bucket in self.buckets.values()))

    def encode(self) -> bytes:
        """Bytes to keep: behind the head, per bucket its number, page count, segments and rows."""
        parts = []
        for number, bucket in self.buckets.items():
            parts += [_BUCKET_HEAD.pack(number, len(bucket.segments)), bucket.segments.tobytes(), bucket.rows.tobytes()]
        body = b"".join(parts)
        head = _HEAD.pack(self.version, self.added, len(self.overlay), len(body))
        return _MAGIC + head + np.array(self.overlay, np.int64).tobytes() + compress(body)

    @classmethod
    def decode(cls, data: bytes) -> Directory:
        """Read what `encode` wrote, or that of a release before 1.3."""
        if not data.startswith(_MAGIC):
            return cls(_buckets(data))
        version, added, segments, size = _HEAD.unpack_from(data, len(_MAGIC))
        at = len(_MAGIC) + _HEAD.size
        overlay = np.frombuffer(data, np.int64, segments, at)
        body = decompress(memoryview(data)[at + overlay.nbytes :], size)
        return cls(_buckets(body), version, overlay.tolist(), added)


def _buckets(data: bytes) -> dict[int, Bucket]:
    found, at = {}, 0
    while at < len(data):
        number, pages = _BUCKET_HEAD.unpack_from(data, at)
        at += _BUCKET_HEAD.size
        segments = np.frombuffer(data, np.int32, pages, at).copy()
        at += segments.nbytes
        rows = np.frombuffer(data, np.int64, pages, at).copy()
        at += rows.nbytes
        found[number] = Bucket(segments, rows)
    return found
