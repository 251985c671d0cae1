"""Replaces parts of a node, wherever its fields hold them."""

from __future__ import annotations

from collections.abc import Callable
from operator import is_
from typing import TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


def map_fields(model: M, step: Callable[[BaseModel], BaseModel]) -> M:
    """The model with `step` of each model in its fields, also in tuples; the very same object where nothing changes.

    `step` decides whether to go on into a model's own fields.
    """
    changes: dict[str, object] = {}
    for name in type(model).model_fields:
        value: object = getattr(model, name)
        changed = _mapped(value, step)
        if changed is not value:
            changes[name] = changed
    return model.model_copy(update=changes) if changes else model


def _mapped(value: object, step: Callable[[BaseModel], BaseModel]) -> object:
    if isinstance(value, BaseModel):
        return step(value)
    if isinstance(value, tuple):
        items = tuple([_mapped(each, step) for each in value])
        return value if all(map(is_, items, value)) else items
    return value
