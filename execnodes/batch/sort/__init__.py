"""batch-exec-sort: 1 (since 1.0)."""

from execnodes.batch.sort.v1 import BatchSort

__all__ = ["BatchSort"]
