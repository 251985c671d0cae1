"""Lowers regular joins; refuses those that need watermarks to end the life of their rows."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.expressions import Call, Expression, InputRef, digest, walk
from execnodes.core.join_spec import JoinSpec
from execnodes.core.node import ExecNode
from execnodes.core.predicates import supported
from execnodes.core.types import LogicalType, row
from planner.describe import described, listed, names_of
from planner.keys import Key, join_keys, upsert_keys
from planner.logical import Join, JoinType, Logical
from planner.lower.aggregate import regular
from planner.lower.context import Context, lower_node
from planner.time_attributes import END, START, is_event_time, window_columns
from planner.tree import conjunction, conjuncts, function_name, unique_names

_TITLES = {
    JoinType.INNER: "InnerJoin",
    JoinType.LEFT: "LeftOuterJoin",
    JoinType.RIGHT: "RightOuterJoin",
    JoinType.FULL: "FullOuterJoin",
    JoinType.SEMI: "LeftSemiJoin",
    JoinType.ANTI: "LeftAntiJoin",
}
_COMPARISONS = frozenset({"=", "<", "<=", ">", ">="})


@lower_node.register
def _(node: Join, context: Context, update_before: bool) -> ExecNode:
    """Both inputs must carry -U: a row that is updated takes its former matches with it."""
    pairs, rest = join_keys(node)
    _refuse_window_join(node, pairs)
    _refuse_interval_join(node)
    _refuse_heavy_condition(node, rest)
    left_keys, right_keys = tuple(left for left, _, _ in pairs), tuple(right for _, right, _ in pairs)
    left = context.exchange(context.lower(node.left, True), left_keys)
    right = context.exchange(context.lower(node.right, True), right_keys)
    keys = [upsert_keys(each) for each in (node.left, node.right)]
    both = unique_names(_both(left, right))
    names = names_of(both)
    where = conjunction(conjuncts(node.condition))
    output = unique_names(regular(node.type))
    return context.make(
        "stream-exec-join",
        [left, right],
        output,
        context.changes.mode(node, update_before or any(each.changelog_mode.retract for each in (left, right))),
        described(
            "Join",
            ("joinType", f"[{_TITLES[node.kind]}]"),
            ("where", f"[{'true' if where is None else digest(where, names)}]"),
            ("select", listed(names_of(output))),
            ("leftInputSpec", f"[{_input_spec(keys[0], left_keys)}]"),
            ("rightInputSpec", f"[{_input_spec(keys[1], right_keys)}]"),
        ),
        join_spec=JoinSpec(
            join_type=node.kind.value,
            left_keys=left_keys,
            right_keys=right_keys,
            filter_nulls=tuple(filters for _, _, filters in pairs),
            non_equi_condition=conjunction(rest),
        ),
        left_upsert_keys=tuple(sorted(tuple(sorted(each)) for each in keys[0])),
        right_upsert_keys=tuple(sorted(tuple(sorted(each)) for each in keys[1])),
        state=(context.state("leftState", node.ttl[0]), context.state("rightState", node.ttl[1], index=1)),
    )


def _both(left: ExecNode, right: ExecNode) -> LogicalType:
    return row(*left.output_type.fields, *right.output_type.fields)


def _input_spec(keys: frozenset[Key], join_columns: tuple[int, ...]) -> str:
    if any(key <= set(join_columns) for key in keys):
        return "JoinKeyContainsUniqueKey"
    return "HasUniqueKey" if keys else "NoUniqueKey"


def _refuse_window_join(node: Join, pairs: tuple[tuple[int, int, bool], ...]) -> None:
    lefts, rights = window_columns(node.left), window_columns(node.right)
    matched = {lefts[left].property for left, right, _ in pairs if left in lefts and lefts[left] == rights.get(right)}
    if {START, END} <= matched:
        raise SqlError(
            "a join of two windowed tables on window_start and window_end is not supported yet",
            position=node.position,
            hint="Join before the windows are made, or aggregate both sides in one GROUP BY over a UNION ALL.",
        )


def _refuse_interval_join(node: Join) -> None:
    """As Flink tells one: an equality of two event times, or two comparisons that bound one by the other."""
    if node.kind in (JoinType.SEMI, JoinType.ANTI):
        return
    operators = [
        function_name(each) for each in conjuncts(node.condition) if isinstance(each, Call) and _timed(each, node)
    ]
    if (len(operators) == 2 and "=" not in operators) or operators == ["="]:
        raise SqlError(
            "an interval join (a range between the time attributes of both sides) is not supported yet",
            position=node.position,
            hint="CAST one time attribute to TIMESTAMP(3): the join then keeps all rows, without a limit in time.",
        )


def _refuse_heavy_condition(node: Join, rest: tuple[Expression, ...]) -> None:
    if not all(map(supported, rest)):
        raise SqlError(
            f"the condition of this {node.kind} join compares columns of both sides in a way that is not supported yet",
            position=node.position,
            hint="Write an inner join, or compare plain columns: compute what is needed in a subquery on each side.",
        )


def _timed(condition: Call, node: Join) -> bool:
    """A comparison of two expressions with one event time each, of different sides."""
    if function_name(condition) not in _COMPARISONS:
        return False
    sides = [_event_times(each, node) for each in condition.operands]
    width = len(node.left.type.fields)
    return all(len(each) == 1 for each in sides) and (sides[0][0] < width) != (sides[1][0] < width)


def _event_times(expression: Expression, node: Join) -> list[int]:
    width = len(node.left.type.fields)
    found = []
    for each in walk(expression):
        if isinstance(each, InputRef):
            side: Logical = node.left if each.input_index < width else node.right
            if is_event_time(side, each.input_index - (0 if each.input_index < width else width)):
                found.append(each.input_index)
    return found
