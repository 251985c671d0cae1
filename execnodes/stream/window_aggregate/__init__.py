"""stream-exec-window-aggregate: 1 (since 1.0), 2 (since 1.3)."""

from execnodes.stream.window_aggregate.v2 import WindowAggregate

__all__ = ["WindowAggregate"]
