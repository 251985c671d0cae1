"""When values of SQL, as functions of the user see them, are the same to DISTINCT."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any


def key_of(value: Any) -> Any:
    """Something hashable that two values have in common where they are the same: NaN is NaN, maps have no order."""
    if isinstance(value, float):
        return value if value == value else "NaN"
    if isinstance(value, Mapping):
        return frozenset((key_of(key), key_of(member)) for key, member in value.items())
    if isinstance(value, list | tuple):
        return tuple(map(key_of, value))
    if dataclasses.is_dataclass(value):
        return tuple(key_of(getattr(value, field.name)) for field in dataclasses.fields(value))
    return value
