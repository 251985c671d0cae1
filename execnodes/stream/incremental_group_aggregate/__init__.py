"""stream-exec-incremental-group-aggregate: 1 (since 1.4)."""

from execnodes.stream.incremental_group_aggregate.v1 import IncrementalGroupAggregate

__all__ = ["IncrementalGroupAggregate"]
