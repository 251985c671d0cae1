"""stream-exec-calc: 1 (since 1.0)."""

from execnodes.stream.calc.v1 import Calc

__all__ = ["Calc"]
