"""stream-exec-global-window-aggregate: 1 (since 1.3)."""

from execnodes.stream.global_window_aggregate.v1 import GlobalWindowAggregate

__all__ = ["GlobalWindowAggregate"]
