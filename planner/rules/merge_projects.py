"""Neighbouring projections become one, and projections that change nothing go away."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from execnodes.core.expressions import Expression, InputRef, substitute, walk
from execnodes.core.functions import is_deterministic
from planner.logical import Aggregate, Filter, Logical, Project
from planner.tree import Sinks, conjunction, conjuncts, rewrite


def merge_projects(sinks: Sinks) -> Sinks:
    """Merge Project over Project, Filter over Filter, and an Aggregate with a projection of plain columns."""
    return rewrite(sinks, _merge)


def _merge(node: Logical) -> Logical:
    match node:
        case Project(input=Project() as below) if mergeable(node.expressions, below.expressions):
            merged = tuple(substitute(each, below.expressions) for each in node.expressions)
            return _merge(Project(below.input, merged, node.type))
        case Project() if _is_identity(node):
            return node.input
        case Filter() if not conjuncts(node.condition):
            return node.input
        case Filter(input=Filter() as below):
            return Filter(
                below.input, conjunction(conjuncts(below.condition) + conjuncts(node.condition)) or node.condition
            )
        case Aggregate(input=Project() as below):
            return _absorb(node, below)
        case _:
            return node


def mergeable(upper: tuple[Expression, ...], lower: tuple[Expression, ...]) -> bool:
    """Whether `upper` may read through `lower`: what gives another value each time must not be written twice."""
    if all(map(is_deterministic, lower)):
        return True
    uses = Counter(each.input_index for above in upper for each in walk(above) if isinstance(each, InputRef))
    return all(uses[index] <= 1 or is_deterministic(each) for index, each in enumerate(lower))


def _is_identity(node: Project) -> bool:
    """Every column is passed on in its place; a new name alone is no reason to compute."""
    fields = node.input.type.fields
    return len(fields) == len(node.expressions) and all(
        isinstance(each, InputRef) and each.input_index == index and each.type == fields[index].type
        for index, each in enumerate(node.expressions)
    )


def _absorb(node: Aggregate, below: Project) -> Aggregate:
    used = {*node.grouping, *(arg for call in node.calls for arg in (*call.arg_list, call.filter_arg) if arg >= 0)}
    sources = {index: below.expressions[index] for index in used}
    refs = {index: each.input_index for index, each in sources.items() if isinstance(each, InputRef)}
    # Equal keys under two names would fall together, so such a projection stays.
    keys = [refs.get(each) for each in node.grouping]
    if len(refs) != len(used) or len(set(keys)) != len(keys):
        return node
    calls = tuple(
        call.model_copy(
            update={
                "arg_list": tuple(refs[each] for each in call.arg_list),
                "filter_arg": refs.get(call.filter_arg, -1),
            }
        )
        for call in node.calls
    )
    return replace(
        node,
        input=below.input,
        grouping=tuple(refs[each] for each in node.grouping),
        calls=calls,
        grouping_sets=tuple(tuple(refs[each] for each in some) for some in node.grouping_sets),
    )
