"""batch-exec-python-correlate: 1 (since 1.3)."""

from execnodes.batch.python_correlate.v1 import BatchPythonCorrelate

__all__ = ["BatchPythonCorrelate"]
