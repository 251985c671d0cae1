"""stream-exec-python-calc: 1 (since 1.3)."""

from execnodes.stream.python_calc.v1 import PythonCalc

__all__ = ["PythonCalc"]
