"""Which columns the properties of a node refer to, wherever in the node they stand: one walk over its typed tree.

A property says by its type that it is a column (`execnodes/core/indexes.py`), and the class around it of what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from execnodes.core.expressions import Call, Expression, FieldAccess, InputRef, Literal
from execnodes.core.indexes import Index, Scope, indexes
from execnodes.core.node import ExecNode, PlanModel
from execnodes.core.types import LogicalType
from plans.format.walk import Path, walk

_OF_EVERY_NODE = frozenset(ExecNode.model_fields)
"""They hold no columns, but for the properties of inputs, which are over one input each."""


@dataclass(frozen=True, slots=True)
class Column:
    """A property that is an index."""

    path: Path
    index: int
    scope: Scope
    none: bool = False
    """Whether -1 is one of its values."""


@dataclass(frozen=True, slots=True)
class Part:
    """An expression, or a part of one."""

    path: Path
    expression: Expression
    scope: Scope


_At = tuple[Scope, Index | None]
"""What a value may refer to, and whether it is a column itself."""


def references(node: ExecNode, inputs: tuple[LogicalType, ...]) -> Iterator[Column | Part]:
    """Every index and every part of an expression in a node, with what it is over."""
    columns = tuple(field for each in inputs for field in each.fields)
    scope = Scope(columns, "its input" if len(inputs) == 1 else "its inputs", inputs)

    def into(model: BaseModel, name: str, at: _At) -> _At | None:
        if model is node and name in _OF_EVERY_NODE:
            return None
        return _within(model, name, at)

    yield from _found(walk(node, (scope, None), into))
    for number, (each, _) in enumerate(zip(node.input_properties, inputs, strict=False)):
        path = ((None, "inputProperties"), number)
        yield from _found(walk(each, (scope.side(number), None), _within, path))


def _within(model: BaseModel, name: str, at: _At) -> _At:
    if isinstance(model, Call):
        return at
    scope, _ = at
    index = indexes(type(model)).get(name)
    if index is not None and index.side is not None:
        return scope.side(index.side), index
    return model.scope(name, scope) if isinstance(model, PlanModel) else scope, index


def _found(values: Iterable[tuple[Path, object, _At]]) -> Iterator[Column | Part]:
    for path, value, (scope, index) in values:
        if isinstance(value, InputRef | Literal | Call | FieldAccess):
            yield Part(path, value, scope)
        elif index is not None and isinstance(value, int) and not isinstance(value, bool):
            yield Column(path, value, scope, none=index.none)
