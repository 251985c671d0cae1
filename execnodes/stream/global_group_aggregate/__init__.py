"""stream-exec-global-group-aggregate: 1 (since 1.0)."""

from execnodes.stream.global_group_aggregate.v1 import GlobalGroupAggregate

__all__ = ["GlobalGroupAggregate"]
