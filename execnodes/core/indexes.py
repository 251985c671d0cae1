"""Columns that properties of a plan refer to: a whole number says by its type whether it is one, and of what.

What looks for columns in a plan, whatever the node, goes by these types (`plans/format/references.py`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Any, get_args

from pydantic import BaseModel

from execnodes.core.types import Field, LogicalType


@dataclass(frozen=True, slots=True)
class Scope:
    """What properties at some place of a node may refer to."""

    columns: tuple[Field, ...]
    name: str
    inputs: tuple[LogicalType, ...] = ()
    """Of the node, of which some properties are over one alone."""

    def side(self, number: int) -> Scope:
        """One input alone."""
        fields = self.inputs[number].fields if number < len(self.inputs) else ()
        return Scope(fields, f"its input {number}", self.inputs)

    def over(self, columns: tuple[Field, ...], name: str) -> Scope:
        """Other columns."""
        return Scope(columns, name, self.inputs)


@dataclass(frozen=True, slots=True)
class Index:
    """Says of a whole number that it is the index of a column."""

    side: int | None = None
    """Of this input alone; None: of the scope it stands in."""
    none: bool = False
    """Whether it may be -1, for no column."""


@dataclass(frozen=True, slots=True)
class NoIndex:
    """Says of a whole number that it is no column."""


ColumnIndex = Annotated[int, Index()]
"""Of all inputs, one after the other, unless the class around says otherwise (`PlanModel.scope`)."""
LeftIndex = Annotated[int, Index(side=0)]
RightIndex = Annotated[int, Index(side=1)]
OptionalIndex = Annotated[int, Index(none=True)]
"""-1 for no column."""
Number = Annotated[int, NoIndex()]


@cache
def indexes(model: type[BaseModel]) -> Mapping[str, Index]:
    """The properties of a class that are columns, or lists of such."""
    found = ((name, _inside(each.annotation, each.metadata)) for name, each in model.model_fields.items())
    return {name: mark for name, mark in found if mark is not None}


def _inside(annotation: Any, metadata: Any = ()) -> Index | None:
    own = next((each for each in metadata if isinstance(each, Index)), None)
    return own or next((mark for each in get_args(annotation) if (mark := _of(each)) is not None), None)


def _of(annotation: Any) -> Index | None:
    return _inside(annotation, getattr(annotation, "__metadata__", ()))
