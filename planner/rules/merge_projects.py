"""Neighbouring projections become one, and projections that change nothing go away."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial

from execnodes.core.expressions import Call, Expression, InputRef, Literal, input_indexes, substitute, walk
from execnodes.functions import is_deterministic, is_repeatable, takes
from planner.algebra import Filter, Logical, Project
from planner.algebra.extent import extent
from planner.algebra.predicates import conjunction, conjuncts
from planner.algebra.single_evaluation import needs_single_evaluation
from planner.algebra.tree import Sinks, rewrite
from planner.limits import MAX_DEPTH
from planner.lower.digest import find_shared

_GROWTH = 500
"""So many parts may come of any merge."""
_DEPTH = MAX_DEPTH // 2
"""Of merged expressions."""


def merge_projects(sinks: Sinks) -> Sinks:
    """Merge Project over Project and Filter over Filter.

    What gives another value each time and has several readers stays apart: it is computed once for all of them.
    """
    merged = rewrite(sinks, partial(_merge, stays=needs_single_evaluation))
    is_shared = find_shared(merged)
    return rewrite(merged, partial(_merge, stays=is_shared))


def _merge(node: Logical, stays: Callable[[Logical], bool]) -> Logical:
    match node:
        case Project() | Filter() if stays(node.input):
            return node
        case Project(input=Project() as below) if mergeable(node.expressions, below.expressions):
            merged = tuple(substitute(each, below.expressions) for each in node.expressions)
            return _merge(Project(below.input, merged, node.type), stays)
        case Project() if _is_identity(node):
            return node.input
        case Filter() if not conjuncts(node.condition):
            return node.input
        case Filter(input=Filter() as below):
            return Filter(
                below.input, conjunction(conjuncts(below.condition) + conjuncts(node.condition)) or node.condition
            )
        case _:
            # Only projections and filters are merged, so all else is as it should be.
            return node


def mergeable(upper: tuple[Expression, ...], lower: tuple[Expression, ...]) -> bool:
    """Whether `upper` may read through `lower`: what gives another value each time must not be written twice, and the
    two together must not become much longer or deeper than they are.
    """
    if not merges_well(upper, lower):
        return False
    if all(map(is_deterministic, lower)):
        return True
    uses = Counter(each.input_index for above in upper for each in walk(above) if isinstance(each, InputRef))
    # Inside a call it may be written once and yet read twice, as BETWEEN reads what it compares.
    inside = {at for above in upper if not isinstance(above, InputRef) for at in input_indexes(above)}
    varying = (index for index, each in enumerate(lower) if not is_repeatable(each))
    return not any(map(inside.__contains__, varying)) and all(
        uses[index] <= 1 or is_deterministic(each) for index, each in enumerate(lower)
    )


def merges_well(upper: tuple[Expression, ...], lower: tuple[Expression, ...]) -> bool:
    """Whether expressions stay of a size, and every call has operands that it takes, when what they read is put in."""
    extents = [extent(each) for each in lower]
    merged = [extent(each, lambda column: extents[column.input_index]) for each in upper]
    parts = sum(parts for _, parts in merged)
    apart = sum(extent(each)[1] for each in upper) + sum(parts for _, parts in extents)
    fits = parts <= max(_GROWTH, apart) and all(depth <= _DEPTH for depth, _ in merged)
    return fits and all(map(takes, _with_constants(upper, lower)))


def _with_constants(upper: tuple[Expression, ...], lower: tuple[Expression, ...]) -> Iterator[Call]:
    """Calls that get constants for columns: patterns and formats of which a function knows only some."""
    constants = {index for index, each in enumerate(lower) if isinstance(each, Literal)}
    for each in (each for above in upper for each in walk(above) if constants):
        if isinstance(each, Call) and not each.user_name:
            reads = (operand.input_index for operand in each.operands if isinstance(operand, InputRef))
            if not constants.isdisjoint(reads):
                found = substitute(each, lower)
                assert isinstance(found, Call)
                yield found


def _is_identity(node: Project) -> bool:
    """Every column is passed on in its place; a new name alone is no reason to compute."""
    fields = node.input.type.fields
    return len(fields) == len(node.expressions) and all(
        isinstance(each, InputRef) and each.input_index == index and each.type == fields[index].type
        for index, each in enumerate(node.expressions)
    )
