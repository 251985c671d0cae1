"""stream-exec-local-window-aggregate: 1 (since 1.3)."""

from execnodes.stream.local_window_aggregate.v1 import LocalWindowAggregate

__all__ = ["LocalWindowAggregate"]
