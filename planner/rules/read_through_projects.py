"""An aggregate reads the columns it needs itself; a projection that only picks and reorders columns is not needed."""

from __future__ import annotations

from dataclasses import replace

from execnodes.core.expressions import InputRef
from planner.algebra import Aggregate, Logical, Project
from planner.algebra.tree import Sinks, rewrite


def read_through_projects(sinks: Sinks) -> Sinks:
    """Merge an Aggregate with a projection below it if all it reads there are plain columns."""
    return rewrite(sinks, _read_through)


def _read_through(node: Logical) -> Logical:
    return _absorb(node, node.input) if isinstance(node, Aggregate) and isinstance(node.input, Project) else node


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
