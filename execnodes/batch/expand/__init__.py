"""batch-exec-expand: 1 (since 1.0)."""

from execnodes.batch.expand.v1 import BatchExpand

__all__ = ["BatchExpand"]
