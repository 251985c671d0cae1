"""Finds and replaces the calls of functions of the user, wherever a node's fields hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from pydantic import BaseModel

from execnodes.core.expressions import AggregateCall, Call
from execnodes.core.node import ExecNode

M = TypeVar("M", bound=BaseModel)
UserCall = Call | AggregateCall


def user_calls(node: ExecNode) -> Iterator[UserCall]:
    """Every call of a function of the user in a node."""
    found: list[UserCall] = []

    def note(call: UserCall) -> UserCall:
        found.append(call)
        return call

    map_calls(node, note)
    return iter(found)


def map_calls(model: M, change: Callable[[UserCall], UserCall]) -> M:
    """The model with every call of a function of the user replaced, inner ones first; the same object if none is."""
    changes: dict[str, object] = {}
    for name in type(model).model_fields:
        value: object = getattr(model, name)
        changed = _mapped(value, change)
        if changed is not value:
            changes[name] = changed
    return model.model_copy(update=changes) if changes else model


def _mapped(value: object, change: Callable[[UserCall], UserCall]) -> object:
    if isinstance(value, BaseModel):
        inner = map_calls(value, change)
        return change(inner) if isinstance(inner, Call | AggregateCall) and inner.user_name else inner
    if isinstance(value, tuple):
        items = tuple(_mapped(each, change) for each in value)
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value


def without_classes(node: ExecNode) -> ExecNode:
    """The node with identifiers alone of its functions."""
    return map_calls(node, lambda call: call.model_copy(update={"class_name": ""}) if call.class_name else call)
