"""batch-exec-hash-join: 1 (since 1.0)."""

from execnodes.batch.hash_join.v1 import BatchHashJoin

__all__ = ["BatchHashJoin"]
