"""batch-exec-correlate: 1 (since 1.3), 2 (since 1.4)."""

from execnodes.batch.correlate.v2 import BatchCorrelate

__all__ = ["BatchCorrelate"]
