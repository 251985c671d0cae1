"""ROW_NUMBER of which only the numbers up to a column's value are kept is a Top-N whose N the rows tell."""

from __future__ import annotations

from execnodes.core.expressions import Call, Expression, InputRef
from execnodes.core.types import INTEGERS
from planner.algebra import Filter, Logical, Over, Rank
from planner.algebra.predicates import conjunction, conjuncts, function_name
from planner.algebra.tree import Sinks, rewrite
from planner.rules.comparison import uncast


def recognise_rank_columns(sinks: Sinks) -> Sinks:
    """Replace Filter(Over) by Rank where the condition bounds the row number by a column."""
    return rewrite(sinks, _recognise)


def _recognise(node: Logical) -> Logical:
    if not isinstance(node, Filter) or not isinstance(node.input, Over) or len(node.input.calls) != 1:
        return node
    over, parts = node.input, conjuncts(node.condition)
    if over.calls[0].name != "ROW_NUMBER":
        return node
    found = [(each, column) for each in parts for column in _bound(each, len(over.input.type.fields))]
    if not found:
        return node
    bound, column = found[0]
    kept = Rank(
        over.input, over.partition, over.order, "ROW_NUMBER", 1, None, over.type, over.position, end_index=column
    )
    rest = conjunction([each for each in parts if each is not bound])
    return kept if rest is None else Filter(kept, rest)


def _bound(condition: Expression, number: int) -> list[int]:
    """The column of ``number <= column`` or ``column >= number``."""
    if not isinstance(condition, Call) or len(condition.operands) != 2:
        return []
    low, high = map(uncast, condition.operands)
    if function_name(condition) == ">=":
        low, high = high, low
    elif function_name(condition) != "<=":
        return []
    if not isinstance(low, InputRef) or not isinstance(high, InputRef) or low.input_index != number:
        return []
    return [high.input_index] if high.input_index != number and high.type.root in INTEGERS else []
