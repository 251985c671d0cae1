"""batch-exec-calc: 1 (since 1.0)."""

from execnodes.batch.calc.v1 import BatchCalc

__all__ = ["BatchCalc"]
