"""An aggregate without keys over what is known to be empty is the one row it gives.

It would wait for a first row; Flink finds that there is none (Calcite's `PruneEmptyRules`, `AggregateValuesRule`).
"""

from __future__ import annotations

from collections.abc import Sequence

from execnodes.core.expressions import Literal, title
from planner.algebra import (
    Aggregate,
    Filter,
    Join,
    JoinType,
    Logical,
    Project,
    SetKind,
    SetOperation,
    Sort,
    Unnest,
    Values,
)
from planner.algebra.contradictions import never_true
from planner.algebra.tree import Sinks, bottom_up, rewrite

_OF_NOTHING = {"COUNT": 0, "SUM0": 0, "SUM": None, "AVG": None, "MIN": None, "MAX": None}
"""Results over no row; with any other function Flink waits, too."""


def answer_empty_aggregates(sinks: Sinks) -> Sinks:
    """Replace each such aggregate by its row."""
    return rewrite(sinks, _answered)


def _answered(node: Logical) -> Logical:
    if not isinstance(node, Aggregate) or node.grouping:
        return node
    if not all(title(call) in _OF_NOTHING for call in node.calls) or not _is_empty(node.input):
        return node
    results = (
        Literal(value=_OF_NOTHING[title(call)], type=field.type)
        for call, field in zip(node.calls, node.type.fields, strict=True)
    )
    return Values((tuple(results),), node.type)


def _is_empty(root: Logical) -> bool:
    empty: set[int] = set()
    for node in bottom_up(root):
        if _gives_nothing(node, [id(each) in empty for each in node.inputs]):
            empty.add(id(node))
    return id(root) in empty


def _gives_nothing(node: Logical, empty: Sequence[bool]) -> bool:
    """Whether an operator has no row; `empty`: which of its inputs have none."""
    match node:
        case Filter():
            return empty[0] or never_true(node.condition)
        case Sort():
            return empty[0] or node.fetch == 0
        case Project() | Unnest():
            return empty[0]
        case Aggregate():
            # Flink has no row of the set of no keys, either.
            return empty[0] and bool(node.grouping)
        case SetOperation(kind=SetKind.UNION, all=True):
            return all(empty)
        case Join():
            return _joins_nothing(node.kind, *empty, never=never_true(node.condition))
        case _:
            # What reads a source; and Flink does not look through row numbers and windows.
            return False


def _joins_nothing(kind: JoinType, left: bool, right: bool, *, never: bool) -> bool:
    match kind:
        case JoinType.INNER | JoinType.SEMI:
            return left or right or never
        case JoinType.LEFT | JoinType.ANTI:
            return left
        case JoinType.RIGHT:
            return right
        case JoinType.FULL:
            return left and right
