"""stream-exec-group-window-aggregate: 1 (since 1.3)."""

from execnodes.stream.group_window_aggregate.v1 import GroupWindowAggregate

__all__ = ["GroupWindowAggregate"]
