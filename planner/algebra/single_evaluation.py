"""Operators whose values differ each time they are computed: where several read them, they must stay one operator."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from execnodes.core.expressions import Call, Expression, FieldAccess
from execnodes.functions import is_repeatable
from planner.algebra import Logical, Values


def needs_single_evaluation(node: Logical) -> bool:
    """Whether the operator itself calls what gives another value each time, as RAND and UUID do."""
    return not isinstance(node, Values) and not all(map(is_repeatable, _expressions(node)))


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
