"""stream-exec-local-python-group-aggregate: 1 (since 1.2)."""

from execnodes.stream.local_python_group_aggregate.v1 import LocalPythonGroupAggregate

__all__ = ["LocalPythonGroupAggregate"]
