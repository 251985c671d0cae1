"""Refuses what no node can run yet, with the place in the SQL text and a way round where there is one."""

from __future__ import annotations

from typing import NoReturn

from execnodes.core.errors import SqlError
from execnodes.core.node import ExecNode
from planner.algebra import Unnest
from planner.lower.context import Context, lower_node


@lower_node.register
def _(node: Unnest, context: Context, update_before: bool) -> ExecNode:
    _refuse(
        node, "UNNEST is not supported yet", "Read members by index, e.g. xs[1], or unnest before the table is read."
    )


def _refuse(node: Unnest, what: str, hint: str | None = None) -> NoReturn:
    raise SqlError(what, position=node.position, hint=hint)
