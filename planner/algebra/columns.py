"""Row types and references to their columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from execnodes.core.expressions import InputRef
from execnodes.core.types import Field, LogicalType, row


def references(type: LogicalType, indexes: Iterable[int] | None = None) -> tuple[InputRef, ...]:
    """Input references to all columns of a row type, or to some of them."""
    picked = range(len(type.fields)) if indexes is None else indexes
    return tuple(InputRef.model_construct(input_index=each, type=type.fields[each].type) for each in picked)


def pick(type: LogicalType, indexes: Iterable[int]) -> LogicalType:
    """The row type of some columns."""
    return row(*(type.fields[each] for each in indexes))


def unique_names(names: Sequence[str]) -> list[str]:
    """A number behind names that occurred before, as Flink does: a second ``k`` is ``k0``."""
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    found = []
    for name in names:
        fresh, number = name, numbers.get(name, 0)
        while fresh in seen:
            fresh, number = f"{name}{number}", number + 1
        seen.add(fresh)
        numbers[name] = number
        found.append(fresh)
    return found


def uniquely_named(type: LogicalType) -> LogicalType:
    """The row type with `unique_names`."""
    names = unique_names([field.name for field in type.fields])
    pairs = zip(type.fields, names, strict=True)
    return row(*(field if field.name == name else Field(name, field.type) for field, name in pairs))
