"""What an interval join compares: as any join, and how far apart the times of two rows may be; in Flink's shape."""

from __future__ import annotations

from execnodes.core.indexes import LeftIndex, Number, RightIndex
from execnodes.core.join_spec import JoinSpec
from execnodes.core.node import PlanModel


class WindowBounds(PlanModel):
    """Bounds of the left time less the right one, in milliseconds, inclusive."""

    is_event_time: bool
    """Always true: such joins by processing time are not supported."""
    left_lower_bound: Number
    """The least difference."""
    left_upper_bound: Number
    """The greatest; where it is less than the least, no two rows meet."""
    left_time_index: LeftIndex
    right_time_index: RightIndex


class IntervalJoinSpec(PlanModel):
    """What must hold of two rows."""

    join_spec: JoinSpec
    """INNER, LEFT, RIGHT or FULL; without the bounds of the times."""
    window_bounds: WindowBounds
