"""Optimized logical plan to ExecGraph: a function for each logical operator, found by its class.

Each module registers the functions of its operators when it is imported: a new one is there without being listed.
"""

from importlib import import_module
from pkgutil import iter_modules

from planner.lower.pipeline import lower

for _module in iter_modules(__path__, f"{__name__}."):
    import_module(_module.name)

__all__ = ["lower"]
