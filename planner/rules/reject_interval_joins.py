"""An interval join that cannot run as one is refused: as a regular join it would keep all rows for ever."""

from __future__ import annotations

from execnodes.core.errors import SqlError
from execnodes.core.expressions import digest
from execnodes.core.types import row
from planner.algebra import Join, Logical
from planner.algebra.columns import uniquely_named
from planner.algebra.intervals import TimeBound
from planner.algebra.tree import Sinks, rewrite
from planner.lower.describe import names_of

_REGULAR = (
    "CAST one time attribute to TIMESTAMP(3) in a subquery, (SELECT *, CAST(… AS TIMESTAMP(3)) AS t FROM …), "
    "and join by that column: a regular join keeps all rows, or those within 'table.exec.state.ttl'."
)


def reject_interval_joins(sinks: Sinks) -> Sinks:
    """SqlError for each by processing time, of updates, or with bounds that do not say how far apart its rows are."""
    return rewrite(sinks, _reject)


def _reject(node: Logical) -> Logical:
    if isinstance(node, Join) and node.time_bounds and node.interval is None:
        message, hint = _find_problem(node)
        raise SqlError(message, position=node.position, hint=hint)
    return node


def _find_problem(node: Join) -> tuple[str, str]:
    """What is wrong with it, and what to write instead."""
    bounds = node.time_bounds
    kinds = {each.by_processing_time for each in bounds}
    if len(kinds) > 1:
        return (
            "an interval join cannot have one bound in processing time and the other in event time",
            "Bound the time between the rows by columns of one kind.",
        )
    if True in kinds:
        return "an interval join by processing time is not supported", _REGULAR
    if len({(each.left, each.right) for each in bounds}) > 1:
        return (
            "the bounds of an interval join are of two time attributes of one side",
            "Bound both ends by one time attribute of each side, and compare CAST(… AS TIMESTAMP(3)) of the other.",
        )
    left, right = (node.left.type.fields[bounds[0].left].type, node.right.type.fields[bounds[0].right].type)
    if left.root is not right.root:
        return (
            f"an interval join requires times of one type, and these are {left.regular()} and {right.regular()}",
            "Declare both columns of a WATERMARK as TIMESTAMP, or both as TIMESTAMP_LTZ.",
        )
    unclear = next((each for each in bounds if each.apart is None), None)
    if unclear is not None:
        return (
            f"an interval join cannot be bounded by {_show(unclear, node)}",
            "Compare time attributes, plus or minus a constant interval of days or less, such as INTERVAL '31' DAY.",
        )
    return (
        "an interval join requires inputs that only add rows, and one of these updates them",
        "Join before the rows are updated. " + _REGULAR,
    )


def _show(bound: TimeBound, node: Join) -> str:
    """The condition, with names of columns as plans have them."""
    return digest(bound.condition, names_of(uniquely_named(row(*node.left.type.fields, *node.right.type.fields))))
