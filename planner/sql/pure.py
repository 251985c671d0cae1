"""sqlglot's Python build: the compiled one forbids subclasses written in Python, and a dialect is some."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.machinery import (
    EXTENSION_SUFFIXES,
    SOURCE_SUFFIXES,
    FileFinder,
    ModuleSpec,
    PathFinder,
    SourceFileLoader,
)
from pathlib import Path
from types import ModuleType

from execnodes.core.errors import SqlError


class _Sources:
    """Finds the modules of sqlglot as Python files, though compiled ones lie beside them."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        if name.partition(".")[0] != "sqlglot":
            return None
        for folder in sys.path if path is None else path:
            found = FileFinder(folder or ".", (SourceFileLoader, SOURCE_SUFFIXES)).find_spec(name)
            if found is not None:
                return found
        return None


def use_python_build() -> None:
    """See to it that sqlglot is loaded from its Python files; SqlError if its compiled build is loaded already."""
    loaded = sys.modules.get("sqlglot.tokenizer_core")
    if loaded is not None:
        if not str(loaded.__file__).endswith(".py"):
            raise SqlError(
                "sqlglot's compiled build is loaded in this process; Flink's dialect needs the one in Python",
                hint="Compile before other code imports sqlglot, or uninstall sqlglotc.",
            )
        return
    spec = PathFinder.find_spec("sqlglot")
    folders = [Path(each) for each in (spec.submodule_search_locations or ())] if spec else []
    compiled = any((folder / f"tokenizer_core{end}").exists() for folder in folders for end in EXTENSION_SUFFIXES)
    if compiled and not any(isinstance(finder, _Sources) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Sources())
