"""Version 2 (1.2), which the class of version 3 serves."""

from execnodes.stream.python_group_aggregate.v3 import PythonGroupAggregate

__all__ = ["PythonGroupAggregate"]
