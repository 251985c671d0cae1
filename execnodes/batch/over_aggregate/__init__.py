"""batch-exec-over-aggregate: 1 (since 1.0), 2 (since 1.3)."""

from execnodes.batch.over_aggregate.v2 import BatchOverAggregate, OverCall

__all__ = ["BatchOverAggregate", "OverCall"]
