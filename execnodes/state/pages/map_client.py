"""What pages are kept in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

Address = tuple[int, int, int]
"""Bucket, page, segment."""
DIRECTORY: Address = (-(2**62), -1, -1)
OVERLAY = (DIRECTORY[0], -2)
"""Where the segments of an overlay are, as if they were of a page."""


class MapClient(Protocol):
    """A map state of Spark's, many keys a call; values are bytes."""

    def get(self, keys: Sequence[Address]) -> list[bytes | None]:
        """Values in the order of the keys, None where there is none."""
        ...

    def put(self, items: Sequence[tuple[Address, bytes]]) -> None:
        """Write values."""
        ...

    def remove(self, keys: Sequence[Address]) -> None:
        """Remove keys that are there."""
        ...


def fetch(client: MapClient, addresses: Sequence[Address], state: str) -> list[bytes]:
    """The bytes at addresses that a directory names; RuntimeError if the store lacks one."""
    found = client.get(addresses)
    for address, data in zip(addresses, found, strict=True):
        if data is None:
            raise RuntimeError(f"{address} of state {state!r} is in the directory but not in the store")
    return [data for data in found if data is not None]
