"""batch-exec-python-async-calc: 1 (since 1.3)."""

from execnodes.batch.python_async_calc.v1 import BatchPythonAsyncCalc

__all__ = ["BatchPythonAsyncCalc"]
