"""ROW_NUMBER() by event time, of which only number 1 is kept, is a deduplication."""

from __future__ import annotations

from execnodes.core.expressions import Expression, Literal
from execnodes.core.types import BIGINT
from planner.algebra import Deduplicate, Filter, Logical, Over, Project
from planner.algebra.columns import references
from planner.algebra.predicates import conjunction, conjuncts
from planner.algebra.tree import Sinks, rewrite
from planner.algebra.windows import END, START
from planner.rules.comparison import compared

_FIRST_ONLY = frozenset({("=", 1), ("<=", 1), ("<", 2)})


def recognise_deduplication(sinks: Sinks) -> Sinks:
    """Replace Filter(Over) by Deduplicate; its row number is the constant 1."""
    return rewrite(sinks, _recognise)


def _recognise(node: Logical) -> Logical:
    if not isinstance(node, Filter) or not isinstance(node.input, Over) or not numbers_by_event_time(node.input):
        return node
    over, number = node.input, len(node.input.input.type.fields)
    parts = conjuncts(node.condition)
    others = [each for each in parts if not _keeps_first(each, number)]
    if len(others) == len(parts):
        return node
    key = over.order[0]
    kept = Deduplicate(over.input, over.partition, key.index, not key.ascending, over.position)
    one = Literal(value=1, type=over.type.fields[number].type if over.type.fields else BIGINT.not_null())
    result = Project(kept, (*references(over.input.type), one), over.type)
    rest = conjunction(others)
    return result if rest is None else Filter(result, rest)


def numbers_by_event_time(over: Over) -> bool:
    """One ROW_NUMBER ordered by one event-time attribute, not within windows."""
    if len(over.calls) != 1 or len(over.order) != 1 or not over.calls[0].internal_name.startswith("$ROW_NUMBER$"):
        return False
    return over.order[0].index in over.input.event_times and not partitions_by_window(over)


def partitions_by_window(over: Over) -> bool:
    """Whether rows are numbered within a window: PARTITION BY window_start, window_end."""
    columns = over.input.window_columns
    found = {columns[each].property for each in over.partition if each in columns}
    return {START, END} <= found


def _keeps_first(condition: Expression, number: int) -> bool:
    found = compared(condition, number)
    return found is not None and (found[0], found[1].value) in _FIRST_ONLY
