"""Modules that programs imported by another path from releases before 1.3: the old path leads to the same module."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType

MOVED = {
    "rekindle.atomic_file": "rekindle.files.atomic_file",
    "rekindle.compiled_plan": "rekindle.results.compiled_plan",
    "rekindle.data_streams": "rekindle.api.data_streams",
    "rekindle.expressions": "rekindle.api.expressions",
    "rekindle.runtime.session": "rekindle.spark.session",
    "rekindle.schema": "rekindle.api.schema",
    "rekindle.statement_set": "rekindle.api.statement_set",
    "rekindle.table": "rekindle.api.table",
    "rekindle.table_environment": "rekindle.api.table_environment",
    "rekindle.table_result": "rekindle.results.table_result",
    "execnodes.core.user_functions": "execnodes.user_functions",
    "execnodes.core.user_functions.aggregate": "execnodes.user_functions.aggregate",
    "execnodes.core.user_functions.scalar": "execnodes.user_functions.scalar",
}


class OldPaths(MetaPathFinder, Loader):
    """Asked before Python looks itself: behind the old path of a package it would find the modules a second time."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """For a path that has moved, whatever `path` there is to search."""
        return ModuleSpec(name, self) if name in MOVED else None

    def exec_module(self, module: ModuleType) -> None:
        """Put the module of today in the place of the one that is being imported."""
        sys.modules[module.__name__] = import_module(MOVED[module.__name__])
