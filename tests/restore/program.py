"""Restore programs of node versions; a fixture is made once, by the release that first has the version."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from execnodes.core.metadata import NodeKey
from rekindle.testing import Files, changes, lines
from rekindle.testing import RestoreProgram as AnyProgram

__all__ = ["FIXTURES", "RestoreProgram", "changes", "lines", "programs"]
FIXTURES = Path(__file__).with_name("fixtures")


class RestoreProgram(AnyProgram):
    """One pipeline that is cut in two, for a node version."""

    node: str
    """Node version that it is for: ``stream-exec-join_1``."""

    def __init__(
        self,
        node: str,
        name: str,
        tables: str,
        queries: Mapping[str, str],
        before: Files,
        after: Files,
        configuration: Mapping[str, str] | None = None,
        **others: Any,
    ) -> None:
        """`name` says the variations of state; `others` are as in every restore program."""
        super().__init__(f"{node}/{name}", tables, queries, before, after, configuration or {}, **others)
        self.__dict__.update(node=node)

    @property
    def key(self) -> NodeKey:
        """The node version."""
        return NodeKey.parse(self.node)

    @property
    def fixture(self) -> Path:
        """Folder with plan, savepoint, the changes before it, and the rows there must be in the end."""
        return FIXTURES / self.name


@cache
def programs() -> tuple[RestoreProgram, ...]:
    """All there are, found by walking the package."""
    from tests.restore import programs as package

    found: list[RestoreProgram] = []
    for module in pkgutil.iter_modules(package.__path__):
        loaded = importlib.import_module(f"{package.__name__}.{module.name}")
        found += [each for each in vars(loaded).values() if isinstance(each, RestoreProgram)]
    return tuple(sorted(found, key=str))
