"""batch-exec-correlate: 1 (since 1.3)."""

from execnodes.batch.correlate.v1 import BatchCorrelate

__all__ = ["BatchCorrelate"]
