"""The walk through a node: everything in the order of a plan, with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin

import pytest
from pydantic import BaseModel

from execnodes.core.expressions import InputRef, Literal
from execnodes.core.metadata import NodeKey
from execnodes.core.registry import lookup
from execnodes.core.types import INT, STRING
from execnodes.functions import resolve
from plans.format.walk import dotted, everywhere, pointer, walk
from tests.completeness.tree import KEYS


def test_order_and_places() -> None:
    column, one = InputRef(input_index=0, type=INT), Literal(value=1, type=INT.not_null())
    found = list(walk((resolve("+", (column, one)),), True, everywhere))
    places = [pointer(path) for path, _, _ in found]
    assert places.index("/0/operands/0/inputIndex") < places.index("/0/operands/1")
    assert "/0/operands/1/value" not in places, "nothing stands in a literal"
    assert next(dotted(path) for path, value, _ in found if value is one) == "[0].operands[1]"


def test_what_is_not_entered() -> None:
    column = InputRef(input_index=0, type=STRING)
    call = resolve("UPPER", (column,))
    found = walk(call, 0, lambda model, name, depth: None if name == "type" else depth + 1)
    assert {type(value).__name__: depth for _, value, depth in found}["InputRef"] == 1
    assert all(value is not call.type for _, value, _ in walk(call, 0, lambda model, name, depth: None))


@pytest.mark.parametrize("key", KEYS, ids=str)
def test_maps_hold_no_models(key: NodeKey) -> None:
    """The walk does not go into them."""
    maps = [each for each in _annotations(lookup(key), set()) if get_origin(each) in (dict, Mapping)]
    inside = {each for every in maps for value in get_args(every) for each in (value, *get_args(value))}
    assert not [each for each in inside if isinstance(each, type) and issubclass(each, BaseModel)]


def _annotations(annotation: Any, seen: set[Any]) -> Iterator[Any]:
    """All types that stand in a field of a model, in its models too."""
    if annotation in seen:
        return
    seen.add(annotation)
    yield annotation
    for each in get_args(annotation):
        if not isinstance(each, str):
            yield from _annotations(each, seen)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        for field in annotation.model_fields.values():
            yield from _annotations(field.annotation, seen)
