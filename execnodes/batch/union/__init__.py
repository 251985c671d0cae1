"""batch-exec-union: 1 (since 1.0)."""

from execnodes.batch.union.v1 import BatchUnion

__all__ = ["BatchUnion"]
