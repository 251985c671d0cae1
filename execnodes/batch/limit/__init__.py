"""batch-exec-limit: 1 (since 1.0)."""

from execnodes.batch.limit.v1 import BatchLimit

__all__ = ["BatchLimit"]
