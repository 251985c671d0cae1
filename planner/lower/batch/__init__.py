"""Optimized logical plan to an ExecGraph of batch nodes: a function for each logical operator, found by its class."""

from importlib import import_module
from pkgutil import iter_modules

from planner.lower.batch.context import BatchContext
from planner.lower.batch.sink import lower_sink as lower_batch_sink

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)

__all__ = ["BatchContext", "lower_batch_sink"]
