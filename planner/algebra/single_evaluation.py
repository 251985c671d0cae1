"""Operators whose values differ each time they are computed: where several read them, they must stay one operator."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import fields

from execnodes.core.expressions import Call, Expression, FieldAccess
from execnodes.functions import is_repeatable
from planner.algebra import Logical, Values
from planner.algebra.tree import Sinks, bottom_up
from planner.lower.digest import Interner, readers


def needs_single_evaluation(node: Logical) -> bool:
    """Whether the operator itself calls what gives another value each time, as RAND and UUID do."""
    return not isinstance(node, Values) and not all(map(is_repeatable, _expressions(node)))


def find_shared(sinks: Sinks) -> Callable[[Logical], bool]:
    """Return what tells whether an operator of the plan needs a single evaluation and has several readers.

    Operators below one that several read count too: a copy of that one would read copies of them.
    """
    nodes = list(bottom_up(*(sink.input for sink in sinks)))
    if not any(map(needs_single_evaluation, nodes)):
        return lambda node: False
    interner = Interner()
    read = readers(sinks, interner)
    shared: set[int] = set()
    for node in reversed(nodes):
        number = interner.number(node)
        found = read.get(number, set())
        if len(found) > 1 or not shared.isdisjoint(found):
            shared.add(number)
    return lambda node: needs_single_evaluation(node) and interner.number(node) in shared


def _expressions(node: Logical) -> Iterator[Expression]:
    inputs = {id(each) for each in node.inputs}
    for field in fields(node):
        value = getattr(node, field.name)
        if id(value) not in inputs:
            yield from _flatten(value)


def _flatten(value: object) -> Iterator[Expression]:
    if isinstance(value, tuple):
        for each in value:
            yield from _flatten(each)
    elif isinstance(value, Call | FieldAccess):
        yield value
