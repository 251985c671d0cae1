"""batch-exec-hash-aggregate: 1 (since 1.0)."""

from execnodes.batch.hash_aggregate.v1 import BatchHashAggregate

__all__ = ["BatchHashAggregate"]
