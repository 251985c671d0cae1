"""batch-exec-values: 1 (since 1.0)."""

from execnodes.batch.values.v1 import BatchValues

__all__ = ["BatchValues"]
