"""Names of columns inside operators: users' names that begin as operators' own columns do are others there.

Only names without ``$`` are operators' own, so that accumulators, which have one, stay as they are.
"""

from __future__ import annotations

import re
from dataclasses import replace

from execnodes.core.node import ExecNode
from execnodes.core.types import Field, LogicalType, row

_OWN = re.compile(r"(u_)*rk_[^$]*")


def inner_type(t: LogicalType) -> LogicalType:
    """A ROW with the names that operators have for its columns; twice would be others."""
    if not any(map(_is_own, t.fields)):
        return t
    return row(*(replace(each, name=f"u_{each.name}") if _is_own(each) else each for each in t.fields))


def with_inner_names(node: ExecNode) -> ExecNode:
    """A node that gives its columns their inner names; not for one that reads a table, which knows them by theirs."""
    inner = inner_type(node.output_type)
    return node if inner is node.output_type else node.model_copy(update={"output_type": inner})


def _is_own(field: Field) -> bool:
    return _OWN.fullmatch(field.name) is not None
