"""Row types and references to their columns."""

from __future__ import annotations

from collections.abc import Iterable

from execnodes.core.expressions import InputRef
from execnodes.core.types import Field, LogicalType, row


def references(type: LogicalType, indexes: Iterable[int] | None = None) -> tuple[InputRef, ...]:
    """Input references to all columns of a row type, or to some of them."""
    picked = range(len(type.fields)) if indexes is None else indexes
    return tuple(InputRef.model_construct(input_index=each, type=type.fields[each].type) for each in picked)


def pick(type: LogicalType, indexes: Iterable[int]) -> LogicalType:
    """The row type of some columns."""
    return row(*(type.fields[each] for each in indexes))


def unique_names(type: LogicalType) -> LogicalType:
    """The row type with a number behind names that occurred before, as Flink does: ``k``, ``k0``."""
    seen: set[str] = set()
    numbers: dict[str, int] = {}
    fields = []
    taken = {field.name for field in type.fields}
    for field in type.fields:
        name, number = field.name, numbers.get(field.name, 0)
        while name in seen or (number and name in taken):
            name, number = f"{field.name}{number}", number + 1
        seen.add(name)
        numbers[field.name] = number
        fields.append(field if name == field.name else Field(name, field.type))
    return row(*fields)
