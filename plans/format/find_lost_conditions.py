"""Finds lookup joins that lack a condition of their query: releases 2.3 and 2.4 compiled such plans.

Of several equalities of one column of the table they kept the last: `ON l.a = r.e WHERE r.e = 2` looked up rows of 2
alone. What they dropped is not in the plan, but the order of the keys shows it in part: a key has the place of the
first equality of its column, and constants come after all others, in the order of the filter, unless one has replaced
another key.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from execnodes.common.lookups import LookupKey, LookupNode
from execnodes.core.expressions import Call, Expression, InputRef, conditions_of, input_indexes
from execnodes.core.graph import ExecGraph
from execnodes.core.predicates import function_name

_RELEASES = ("2.3", "2.4")
"""Those whose plans may lack conditions."""


@dataclass(frozen=True, slots=True)
class LostCondition:
    """A lookup join without a condition of its query."""

    node: int
    """Id."""
    where: str
    """Node and table."""
    message: str
    is_visible: bool
    """Whether the plan shows it, or at least a constant that may have replaced another key."""
    hint: str = "Compile the statement again with this release, and compare both plans: rekindle diff OLD NEW."

    def __str__(self) -> str:
        return f"{self.where}: {self.message}. {self.hint}"

    def document(self) -> dict[str, object]:
        """Encode it as JSON values."""
        return {"node": self.node, "message": self.message, "hint": self.hint}


def find_lost_conditions(graph: ExecGraph, engine_version: str | None = None) -> tuple[LostCondition, ...]:
    """Return lookup joins that lack a condition, and those that may; `engine_version`: of what compiled the plan."""
    old = (engine_version or graph.engine_version) in _RELEASES
    found = ((node, _find(node, old)) for node in graph.nodes if isinstance(node, LookupNode))
    return tuple(_lost(node, *reason) for node, reason in found if reason is not None)


def _lost(node: LookupNode, message: str, is_visible: bool) -> LostCondition:
    table = node.temporal_table.lookup_table_source.table.name
    return LostCondition(node.id, f"node {node.id} ({node.key}), table {table}", message, is_visible)


def _find(node: LookupNode, old: bool) -> tuple[str, bool] | None:
    names = [each.name for each in node.temporal_table.output_type.fields]
    replaced = _find_replaced(node)
    if replaced is not None:
        column = names[replaced]
        return f"the lookup join has lost a condition on column {column}, so that it joins rows that do not match", True
    if not old:
        return None
    constants = [names[each.column] for each in node.lookup_keys if _is_constant(each)]
    if constants:
        columns = ", ".join(constants)
        return f"the lookup join may have lost a condition on column {columns}, which is compared with a constant", True
    return "the lookup join may have lost a condition, if its query compares a column of the table twice", False


def _find_replaced(node: LookupNode) -> int | None:
    """Return a column whose constant has a place in the keys that only another equality of the column can give."""
    order = list(_columns_of_constants(node.filter_on_temporal_table))
    last = -1
    for at, key in enumerate(node.lookup_keys):
        if not _is_constant(key) or key.column not in order:
            continue
        if not all(map(_is_constant, node.lookup_keys[at:])):
            return key.column
        place = order.index(key.column)
        if place < last:
            return order[last]
        last = place
    return None


def _is_constant(key: LookupKey) -> bool:
    return not input_indexes(key.value)


def _columns_of_constants(condition: Expression | None) -> Iterator[int]:
    """Yield the column of each equality with a constant in a filter, in its order."""
    for each in () if condition is None else conditions_of(condition):
        if not isinstance(each, Call) or function_name(each) != "=":
            continue
        for column, value in (each.operands, each.operands[::-1]):
            if isinstance(column, InputRef) and not input_indexes(value):
                yield column.input_index
