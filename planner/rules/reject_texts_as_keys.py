"""A time and a text are no key of a join: the text would have to be read, which Flink does for no key."""

from __future__ import annotations

from execnodes.core.errors import Position, SqlError
from execnodes.core.expressions import Call, Literal, input_indexes
from planner.algebra import Filter, Join, Logical
from planner.algebra.predicates import conjuncts, is_call
from planner.algebra.tree import Sinks, rewrite


def reject_texts_as_keys(sinks: Sinks) -> Sinks:
    """SqlError for an equality in or above a join of a time with a text, each of one side; Flink takes all others."""
    return rewrite(sinks, _reject)


def _reject(node: Logical) -> Logical:
    join = node.input if isinstance(node, Filter) else node
    if isinstance(node, Filter | Join) and isinstance(join, Join):
        for each in conjuncts(node.condition):
            if isinstance(each, Call) and is_call(each, "=", "IS NOT DISTINCT FROM"):
                _reject_key(each, join)
    return node


def _reject_key(equality: Call, join: Join) -> None:
    read = next((each for each in equality.operands if isinstance(each, Call) and each.compared_at is not None), None)
    if read is None or isinstance(read.operands[0], Literal):
        return
    width = len(join.left.type.fields)
    sides = [{at < width for at in input_indexes(each)} for each in equality.operands]
    if any(len(each) != 1 for each in sides):
        return
    time, text = (each.with_nullable(True) for each in (read.type, read.operands[0].type))
    at = read.compared_at
    raise SqlError(
        f"a join cannot compare {time} with {text} for equality",
        position=join.position if at is None else Position(at.line, at.column),
        hint=f"Cast one of them, e.g. CAST(… AS {time}), or TRY_CAST where it may be no such text.",
    )
