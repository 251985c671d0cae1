"""Finds and replaces the tables of nodes, wherever a node's fields hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from pydantic import BaseModel

from execnodes.core.node import ExecNode, PlanModel
from execnodes.core.tables import TableReference
from plans.format.rewrite import M, map_fields

FIXED = ("connector", "format", "key.format", "value.format")
"""Options that decide what a table is: those of a plan stay in force, and without them a position says nothing."""


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

    def step(value: BaseModel) -> BaseModel:
        if isinstance(value, TableReference):
            return change(value)
        return map_fields(value, step) if isinstance(value, PlanModel) else value

    return map_fields(model, step)
