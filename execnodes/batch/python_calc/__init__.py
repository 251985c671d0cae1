"""batch-exec-python-calc: 1 (since 1.3)."""

from execnodes.batch.python_calc.v1 import BatchPythonCalc

__all__ = ["BatchPythonCalc"]
