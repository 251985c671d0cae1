"""Finds and replaces the calls of functions of the user, wherever a node's fields hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pydantic import BaseModel

from execnodes.core.expressions import AggregateCall, Call
from execnodes.core.node import ExecNode
from plans.format.rewrite import M, map_fields

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

    def step(value: BaseModel) -> BaseModel:
        inner = map_fields(value, step)
        return change(inner) if isinstance(inner, Call | AggregateCall) and inner.user_name else inner

    return map_fields(model, step)


def without_classes(node: ExecNode) -> ExecNode:
    """The node with identifiers alone of its functions."""
    return map_calls(node, lambda call: call.model_copy(update={"class_name": ""}) if call.class_name else call)
