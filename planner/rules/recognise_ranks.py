"""ROW_NUMBER, RANK or DENSE_RANK of which only low numbers are kept is a Top-N."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import Expression, Literal
from execnodes.core.types import INTEGERS, row
from planner.algebra import Filter, Logical, Over, Project, Rank
from planner.algebra.columns import references
from planner.algebra.predicates import conjunction, conjuncts
from planner.algebra.rank import RANK_FUNCTIONS
from planner.algebra.tree import Sinks, rewrite
from planner.rules.comparison import compared


def recognise_ranks(sinks: Sinks) -> Sinks:
    """Replace Filter(Over) by Rank where the condition bounds the rank from above."""
    return rewrite(sinks, _recognise)


def _recognise(node: Logical) -> Logical:
    if not isinstance(node, Filter) or not isinstance(node.input, Over) or len(node.input.calls) != 1:
        return node
    over, number = node.input, len(node.input.input.type.fields)
    function = next((each for each in RANK_FUNCTIONS if each == over.calls[0].name), None)
    if function is None:
        return node
    start, end = 1, None
    others = []
    for each in conjuncts(node.condition):
        bounds = _bounds(each, number)
        if bounds is None:
            others.append(each)
            continue
        start = max(start, bounds[0])
        end = bounds[1] if end is None or (bounds[1] is not None and bounds[1] < end) else end
    if end is None or end < start:
        return node
    ranked = Rank(
        over.input, over.partition, over.order, function, start, end, over.type, over.position, place=over.place
    )
    kept = _with_constant_rank(ranked, end) if ranked.single else ranked
    rest = conjunction(others)
    return kept if rest is None else Filter(kept, rest)


def _with_constant_rank(ranked: Rank, rank: int) -> Project:
    """The rank of a single row is known."""
    known = Literal(value=rank, type=ranked.type.fields[-1].type)
    # Not the input's type: a batch has dropped watermarks there, and which column is the time still breaks ties.
    rows = replace(ranked, type=row(*ranked.type.fields[:-1]))
    return Project(rows, (*references(ranked.input.type), known), ranked.type)


def _bounds(condition: Expression, number: int) -> tuple[int, int | None] | None:
    """Lowest and highest rank that a comparison with a constant lets pass; None if it is something else."""
    found = compared(condition, number)
    if found is None:
        return None
    operator, bound = found
    if bound.type.root not in INTEGERS or bound.value is None:
        return None
    value = int(bound.value)
    bounds = {
        "=": (value, value),
        "<": (1, value - 1),
        "<=": (1, value),
        ">": (value + 1, None),
        ">=": (value, None),
    }
    return bounds.get(operator)
