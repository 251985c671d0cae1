"""Finds and replaces the tables of nodes, wherever a node's fields hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from execnodes.core.node import ExecNode, PlanModel
from execnodes.core.tables import TableReference

M = TypeVar("M", bound=PlanModel)


def tables_of(node: ExecNode) -> Iterator[TableReference]:
    """Every table of a node, in field order."""
    found: list[TableReference] = []

    def note(table: TableReference) -> TableReference:
        found.append(table)
        return table

    map_tables(node, note)
    return iter(found)


def map_tables(model: M, change: Callable[[TableReference], TableReference]) -> M:
    """The model with every table in it replaced; the very same object where nothing changes."""
    changes: dict[str, object] = {}
    for name in type(model).model_fields:
        value: object = getattr(model, name)
        changed = _mapped(value, change)
        if changed is not value:
            changes[name] = changed
    return model.model_copy(update=changes) if changes else model


def _mapped(value: object, change: Callable[[TableReference], TableReference]) -> object:
    if isinstance(value, TableReference):
        return change(value)
    if isinstance(value, PlanModel):
        return map_tables(value, change)
    if isinstance(value, tuple):
        items = tuple(_mapped(each, change) for each in value)
        return items if any(new is not old for new, old in zip(items, value, strict=True)) else value
    return value
