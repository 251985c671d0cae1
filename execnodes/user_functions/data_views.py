"""Lists and maps in accumulators, with PyFlink's methods: `ListView` and `MapView`.

State holds them as an ARRAY or a MAP, which is read and written with the accumulator.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Generic, Self, TypeVar

V = TypeVar("V")
K = TypeVar("K")


class DataView(ABC):
    """What a list and a map in an accumulator have in common."""

    @classmethod
    @abstractmethod
    def of_value(cls, value: Any) -> Self:
        """A view of what state holds; None is nothing."""

    @abstractmethod
    def to_value(self) -> Any:
        """What state holds: a list or a dict."""

    @abstractmethod
    def clear(self) -> None:
        """Remove everything."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataView) and type(other) is type(self) and other.to_value() == self.to_value()

    def __getstate__(self) -> dict[str, Any]:
        """Without what `ListView[int]()` notes of the type."""
        return {"_values": self.to_value()}

    __hash__ = None  # type: ignore[assignment]  # it changes

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.to_value()!r})"


class ListView(DataView, Generic[V]):
    """A list in an accumulator."""

    def __init__(self) -> None:
        self._values: list[V] = []

    @classmethod
    def of_value(cls, value: Any) -> Self:
        """A view of a list."""
        view = cls()
        view.add_all(value or ())
        return view

    def to_value(self) -> list[V]:
        """The list."""
        return self._values

    def get(self) -> Iterable[V]:
        """All values, in the order in which they were added."""
        return self._values

    def add(self, value: V) -> None:
        """Add a value at the end."""
        self._values.append(value)

    def add_all(self, values: Iterable[V]) -> None:
        """Add values at the end."""
        self._values.extend(values)

    def clear(self) -> None:
        """Remove all values."""
        self._values = []

    def __iter__(self) -> Iterator[V]:
        return iter(self._values)


class MapView(DataView, Generic[K, V]):
    """A map in an accumulator; a key that is not there has None."""

    def __init__(self) -> None:
        self._values: dict[K, V] = {}

    @classmethod
    def of_value(cls, value: Any) -> Self:
        """A view of a dict."""
        view = cls()
        view.put_all(value or {})
        return view

    def to_value(self) -> dict[K, V]:
        """The dict."""
        return self._values

    def get(self, key: K) -> V | None:
        """The value of a key; None without one."""
        return self._values.get(key)

    def put(self, key: K, value: V) -> None:
        """Give a key a value."""
        self._values[key] = value

    def put_all(self, dict_value: Mapping[K, V]) -> None:
        """Give keys values."""
        self._values.update(dict_value)

    def remove(self, key: K) -> None:
        """Remove a key, if it is there."""
        self._values.pop(key, None)

    def contains(self, key: K) -> bool:
        """Whether a key is there."""
        return key in self._values

    def items(self) -> Iterable[tuple[K, V]]:
        """Keys with their values."""
        return self._values.items()

    def keys(self) -> Iterable[K]:
        """What has a value, in no order that holds."""
        return self._values.keys()

    def values(self) -> Iterable[V]:
        """Of all keys, in their order."""
        return self._values.values()

    def is_empty(self) -> bool:
        """Whether there is no key."""
        return not self._values

    def clear(self) -> None:
        """Remove all keys."""
        self._values = {}

    def __getitem__(self, key: K) -> V | None:
        return self.get(key)

    def __setitem__(self, key: K, value: V) -> None:
        self.put(key, value)

    def __delitem__(self, key: K) -> None:
        self.remove(key)

    def __contains__(self, key: K) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[K]:
        return iter(self._values)
