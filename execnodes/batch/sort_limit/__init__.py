"""batch-exec-sort-limit: 1 (since 1.0)."""

from execnodes.batch.sort_limit.v1 import BatchSortLimit

__all__ = ["BatchSortLimit"]
