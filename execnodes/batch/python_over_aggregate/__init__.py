"""batch-exec-python-over-aggregate: 1 (since 1.4)."""

from execnodes.batch.python_over_aggregate.v1 import BatchPythonOverAggregate

__all__ = ["BatchPythonOverAggregate"]
