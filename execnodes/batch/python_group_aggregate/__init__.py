"""batch-exec-python-group-aggregate: 1 (since 1.3)."""

from execnodes.batch.python_group_aggregate.v1 import BatchPythonGroupAggregate

__all__ = ["BatchPythonGroupAggregate"]
