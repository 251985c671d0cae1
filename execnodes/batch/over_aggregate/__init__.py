"""batch-exec-over-aggregate: 1 (since 1.0)."""

from execnodes.batch.over_aggregate.v1 import BatchOverAggregate, OverCall

__all__ = ["BatchOverAggregate", "OverCall"]
