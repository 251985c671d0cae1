"""ROW_NUMBER() by time, of which only number 1 is kept, is a deduplication."""

from __future__ import annotations

from execnodes.core.expressions import Expression, Literal
from execnodes.core.types import BIGINT, TimeKind
from planner.algebra import Deduplicate, Filter, Logical, Over, Project
from planner.algebra.columns import references
from planner.algebra.predicates import conjunction, conjuncts
from planner.algebra.tree import Sinks, rewrite
from planner.algebra.windows import bounds_of
from planner.rules.comparison import compared

_FIRST_ONLY = frozenset({("=", 1), ("<=", 1), ("<", 2)})


def recognise_deduplication(sinks: Sinks) -> Sinks:
    """Replace Filter(Over) by Deduplicate; its row number is the constant 1."""
    return rewrite(sinks, _recognise)


def _recognise(node: Logical) -> Logical:
    if not isinstance(node, Filter) or not isinstance(node.input, Over) or not numbers_by_time(node.input):
        return node
    over, number = node.input, len(node.input.input.type.fields)
    parts = conjuncts(node.condition)
    others = [each for each in parts if not _keeps_first(each, number)]
    if len(others) == len(parts):
        return node
    key = over.order[0]
    kept = Deduplicate(over.input, over.partition, key.index, not key.ascending, over.position, place=over.place)
    one = Literal(value=1, type=over.type.fields[number].type if over.type.fields else BIGINT.not_null())
    result = Project(kept, (*references(over.input.type), one), over.type)
    rest = conjunction(others)
    return result if rest is None else Filter(result, rest)


def numbers_by_time(over: Over) -> bool:
    """One ROW_NUMBER ordered by one time attribute, not within windows."""
    if len(over.calls) != 1 or len(over.order) != 1 or not over.calls[0].internal_name.startswith("$ROW_NUMBER$"):
        return False
    time = over.order[0].index
    by_arrival = over.input.type.fields[time].type.kind is TimeKind.PROCTIME
    within = bounds_of(over.input.window_columns, over.partition) is not None
    return (by_arrival or time in over.input.event_times) and not within


def _keeps_first(condition: Expression, number: int) -> bool:
    found = compared(condition, number)
    return found is not None and (found[0], found[1].value) in _FIRST_ONLY
