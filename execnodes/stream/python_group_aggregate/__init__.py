"""stream-exec-python-group-aggregate: 1 (since 1.0)."""

from execnodes.stream.python_group_aggregate.v1 import PythonGroupAggregate

__all__ = ["PythonGroupAggregate"]
