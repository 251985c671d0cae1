"""stream-exec-python-correlate: 1 (since 1.3)."""

from execnodes.stream.python_correlate.v1 import PythonCorrelate

__all__ = ["PythonCorrelate"]
