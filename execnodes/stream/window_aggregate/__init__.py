"""stream-exec-window-aggregate: 1 (since 1.0)."""

from execnodes.stream.window_aggregate.v1 import WindowAggregate

__all__ = ["WindowAggregate"]
