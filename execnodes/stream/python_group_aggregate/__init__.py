"""stream-exec-python-group-aggregate: 1 (since 1.0), 2 (since 1.2)."""

from execnodes.stream.python_group_aggregate.v2 import PythonGroupAggregate

__all__ = ["PythonGroupAggregate"]
