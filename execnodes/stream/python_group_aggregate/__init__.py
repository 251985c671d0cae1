"""stream-exec-python-group-aggregate: 1 (since 1.0), 2 (since 1.2), 3 (since 1.3)."""

from execnodes.stream.python_group_aggregate.v3 import PythonGroupAggregate

__all__ = ["PythonGroupAggregate"]
