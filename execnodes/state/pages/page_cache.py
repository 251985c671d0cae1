"""Pages that this process has read or written: the next micro-batch of a subtask reads them from here if nobody has
written since.

A version (see `Directory.version`) is drawn at random by whoever writes, so that pages of an attempt that failed, or
that another process has overtaken, are never taken for those that there are.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")
LIMIT = 64 * 1024 * 1024
"""Bytes that a process holds."""


@dataclass(slots=True)
class _Held(Generic[K, V]):
    values: dict[K, tuple[V, int]] = field(default_factory=dict)
    """Each with its size."""
    size: int = 0


class VersionCache(Generic[K, V]):
    """Values by version and key, within a number of bytes; the versions longest unused go first."""

    def __init__(self, limit: int = LIMIT) -> None:
        """`limit` in bytes."""
        self._limit = limit
        self._versions: OrderedDict[int, _Held[K, V]] = OrderedDict()
        self._size = 0

    def get(self, version: int, key: K) -> V | None:
        """None if it is not here."""
        held = self._versions.get(version)
        found = held.values.get(key) if held is not None else None
        return found[0] if found is not None else None

    def use(self, version: int) -> None:
        """Keep this version longest."""
        if version in self._versions:
            self._versions.move_to_end(version)

    def put(self, version: int, key: K, value: V, size: int) -> None:
        """Keep a value if there is room; `size` in bytes."""
        if not version:
            return
        self.drop(version, key)
        self.use(version)
        while self._size + size > self._limit and (oldest := next(iter(self._versions), version)) != version:
            self.forget(oldest)
        if self._size + size <= self._limit:
            held = self._versions.setdefault(version, _Held())
            held.values[key] = value, size
            held.size += size
            self._size += size

    def drop(self, version: int, key: K) -> None:
        """Forget one value."""
        held = self._versions.get(version)
        if held is not None and key in held.values:
            size = held.values.pop(key)[1]
            held.size -= size
            self._size -= size

    def rename(self, old: int, new: int) -> None:
        """What is known of one version is so of another."""
        if old in self._versions:
            self._versions[new] = self._versions.pop(old)

    def forget(self, version: int) -> None:
        """Drop all values of a version."""
        held = self._versions.pop(version, None)
        self._size -= held.size if held is not None else 0


def new_version() -> int:
    """A number that nobody has drawn before; never 0."""
    return secrets.randbits(62) + 1
