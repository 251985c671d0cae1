"""Conditions become part of what they filter, where that one can: a source that reads less, a state that keeps less.

Only where nothing else reads the same rows: what is shared is read, and kept, once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from execnodes.connectors import filterable_columns
from execnodes.core.expressions import Call, Expression, InputRef, Literal, children, input_indexes
from execnodes.core.predicates import supported
from execnodes.functions import is_deterministic
from planner.algebra import Filter, Logical, Normalize, Scan
from planner.algebra.predicates import conjunction, conjuncts, function_name
from planner.algebra.tree import Sinks, rewrite
from planner.lower.digest import Interner, readers

_TESTS = frozenset({"=", "<>", "<", "<=", ">", ">=", "IS NULL", "IS NOT NULL", "AND", "OR", "NOT"})
"""What a source may be asked: comparisons of columns with constants."""


def push_into_inputs(sinks: Sinks) -> Sinks:
    """Filters into the scan or the normalization directly below them."""
    interner = Interner()
    read = readers(sinks, interner)

    def push(node: Logical) -> Logical:
        if not isinstance(node, Filter) or len(read.get(interner.number(node.input), ())) != 1:
            return node
        match node.input:
            case Scan() as scan:
                columns = _filterable(scan)
                return _split(
                    node,
                    lambda each: _asks(each) and input_indexes(each) <= columns,
                    lambda inside: replace(scan, predicates=inside),
                )
            case Normalize() as normalize:
                return _split(
                    node,
                    lambda each: is_deterministic(each) and supported(each),
                    lambda inside: replace(normalize, condition=conjunction(inside)),
                )
            case _:
                # A filter above an operator is right for every operator.
                return node

    return rewrite(sinks, push)


def _split(
    node: Filter, fits: Callable[[Expression], bool], into: Callable[[tuple[Expression, ...]], Logical]
) -> Logical:
    """The members of the condition that fit go into what is below, the others stay above."""
    parts = conjuncts(node.condition)
    inside = tuple(each for each in parts if fits(each))
    if not inside:
        return node
    rest = conjunction([each for each in parts if each not in inside])
    return into(inside) if rest is None else Filter(into(inside), rest)


def _filterable(scan: Scan) -> set[int]:
    """Places of the columns that the source can filter by."""
    physical = [each.name for each in scan.table.table_schema.physical]
    names = filterable_columns(scan.options, physical, scan.table.partition_keys)
    return {at for at, field in enumerate(scan.type.fields) if field.name in names}


def _asks(expression: Expression) -> bool:
    """Whether it is a condition that sources know."""
    if not isinstance(expression, Call) or function_name(expression) not in _TESTS:
        return False
    parts = children(expression)
    if function_name(expression) in ("AND", "OR", "NOT"):
        return all(map(_asks, parts))
    return any(isinstance(each, InputRef) for each in parts) and all(isinstance(e, InputRef | Literal) for e in parts)
