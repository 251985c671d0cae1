"""stream-exec-over-aggregate: 1 (since 1.3)."""

from execnodes.stream.over_aggregate.v1 import OverAggregate

__all__ = ["OverAggregate"]
