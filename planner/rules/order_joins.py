"""Inner joins in an order in which each has a condition: FROM a, b, c WHERE a.x = c.x AND c.y = b.y is no cross join.

Only for batch: a stream's joins stay as they are written, since each keeps state.
"""

from __future__ import annotations

from execnodes.core.expressions import Expression, input_indexes, remap
from execnodes.core.types import row
from execnodes.functions import is_deterministic
from planner.algebra import Filter, Join, JoinType, Logical, Project
from planner.algebra.columns import references
from planner.algebra.predicates import TRUE, conjunction, conjuncts
from planner.algebra.tree import Sinks, rewrite


def order_joins(sinks: Sinks) -> Sinks:
    """Reorder chains of inner joins in which some pair would be crossed; the others stay."""
    return rewrite(sinks, _order)


def _order(node: Logical) -> Logical:
    if not isinstance(node, Join) or node.kind is not JoinType.INNER or node.as_of is not None:
        return node
    members, conditions = _flat(node)
    starts = _starts(members)
    if not all(map(is_deterministic, conditions)):
        return node
    order = _connected(members, starts, conditions)
    if order == list(range(len(members))):
        return node
    return _rebuilt(node, members, conditions, order)


def _flat(node: Logical) -> tuple[list[Logical], list[Expression]]:
    """What a chain of inner joins joins, left to right, and all conditions over the columns of all."""
    if isinstance(node, Filter):
        members, conditions = _flat(node.input)
        return (members, [*conditions, *conjuncts(node.condition)]) if len(members) > 1 else ([node], [])
    if not isinstance(node, Join) or node.kind is not JoinType.INNER or node.as_of is not None:
        return [node], []
    members, conditions = _flat(node.left)
    return [*members, node.right], [*conditions, *conjuncts(node.condition)]


def _starts(members: list[Logical]) -> list[int]:
    """First column of each member, and behind the last the number of all."""
    starts = [0]
    for each in members:
        starts.append(starts[-1] + len(each.type.fields))
    return starts


def _members_of(condition: Expression, starts: list[int]) -> set[int]:
    """The members whose columns a condition reads."""
    return {max(at for at, start in enumerate(starts) if start <= index) for index in input_indexes(condition)}


def _connected(members: list[Logical], starts: list[int], conditions: list[Expression]) -> list[int]:
    """The first member, then always the next one that a condition ties to those before, if there is any."""
    ties = [_members_of(each, starts) for each in conditions]
    order, rest = [0], list(range(1, len(members)))
    while rest:
        before = set(order)
        tied = (each for each in rest if any(each in tie and tie & before and tie <= before | {each} for tie in ties))
        chosen = next(tied, rest[0])
        order.append(chosen)
        rest.remove(chosen)
    return order


def _rebuilt(node: Join, members: list[Logical], conditions: list[Expression], order: list[int]) -> Logical:
    starts = _starts(members)
    places: dict[int, int] = {}
    left, joined = members[order[0]], {order[0]}
    left_open = list(conditions)
    for column in range(starts[order[0]], starts[order[0] + 1]):
        places[column] = len(places)
    for each in order[1:]:
        joined.add(each)
        for column in range(starts[each], starts[each + 1]):
            places[column] = len(places)
        ready = [some for some in left_open if _members_of(some, starts) <= joined]
        left_open = [some for some in left_open if some not in ready]
        condition = conjunction([remap(some, places.__getitem__) for some in ready]) or TRUE
        type = row(*left.type.fields, *members[each].type.fields)
        left = Join(left, members[each], JoinType.INNER, condition, type, position=node.position)
    kept = [places[column] for column in range(starts[-1])]
    return Project(left, references(left.type, kept), node.type)
