"""stream-exec-local-group-aggregate: 1 (since 1.0)."""

from execnodes.stream.local_group_aggregate.v1 import LocalGroupAggregate

__all__ = ["LocalGroupAggregate"]
