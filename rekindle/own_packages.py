"""Rekindle's packages are found by their place, beside `rekindle`, before anything on the path can answer.

Their names are common words: a folder `plans` or a `planner.py` of one's own is often nearer on the path.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType

NAMES = ("execnodes", "planner", "plans", "rekindle")
PLACE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
"""The folder (or archive) that all of them are in."""

LAUNCHER = os.path.join(PLACE, "rekindle_launcher.py")
"""Script that is `python -m` with these packages: ``python -P LAUNCHER -m rekindle``."""


class OwnPackages(MetaPathFinder):
    """Asked before Python looks along the path."""

    def find_spec(self, name: str, path: Sequence[str] | None, target: ModuleType | None = None) -> ModuleSpec | None:
        """For the packages of Rekindle; what is inside them is found by them."""
        return PathFinder.find_spec(name, [PLACE]) if name in NAMES else None


def require_own_packages() -> None:
    """ImportError if a module that is already imported has the name of one of Rekindle's packages."""
    for name in NAMES:
        module = sys.modules.get(name)
        if module is None:
            continue
        folders = [os.path.realpath(folder) for folder in getattr(module, "__path__", ())]
        if os.path.realpath(os.path.join(PLACE, name)) in folders:
            continue
        place = getattr(module, "__file__", None) or next(iter(folders), "an unknown place")
        raise ImportError(
            f"module '{name}' is already imported from {place}, and Rekindle has a package of that name\n"
            f"  Rename yours: the names {', '.join(NAMES)} are those of Rekindle's packages.",
            name=name,
            path=place,
        )
