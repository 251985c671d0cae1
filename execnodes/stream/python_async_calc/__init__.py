"""stream-exec-python-async-calc: 1 (since 1.3)."""

from execnodes.stream.python_async_calc.v1 import PythonAsyncCalc

__all__ = ["PythonAsyncCalc"]
