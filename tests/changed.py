"""Chooses the tests that a change reaches: ``pytest -p tests.changed`` (``make test-changed``).

A change is what differs from ``REKINDLE_BASE`` (default: where this branch left origin/main, or else the last commit),
uncommitted files included. It reaches tests that import a changed module, directly or by one other; the tests of its
folder; programs whose plans have a changed node, function or connector; and one in 24 of all other tests.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path, PurePosixPath
from typing import Any
from zlib import crc32

import grimp
import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ("execnodes", "planner", "plans", "rekindle")
_SHARE = 24
"""One of so many tests that a change does not reach runs all the same."""
_DISTANCE = 2
"""Imports between a changed module and a test that it reaches."""
FOLDERS: Mapping[str, tuple[str, ...]] = {
    "execnodes/stream": ("kernels",),
    "execnodes/kernels": ("kernels",),
    "execnodes/batch": ("batch",),
    "execnodes/aggregates": ("kernels", "batch"),
    "execnodes/functions": ("functions",),
    "execnodes/connectors": ("connectors",),
    "execnodes/terms": ("terms",),
    "execnodes/user_functions": ("user_functions",),
    "execnodes/state": ("savepoints", "engine"),
    "execnodes": ("core", "plans", "engine", "kernels"),
    "planner/catalog": ("catalogs", "planner"),
    "planner": ("planner",),
    "plans/evolution": ("evolution", "plans"),
    "plans/compatibility": ("evolution", "plans", "terms"),
    "plans": ("plans", "upgrade"),
    "rekindle/api": ("table", "frame"),
    "rekindle/engine": ("engine", "runtime"),
    "rekindle/pipeline": ("engine", "runtime"),
    "rekindle/statements": ("frame", "runtime"),
    "rekindle/results": ("frame", "table"),
    "rekindle/spark": ("frame", "engine"),
    "rekindle/files": ("paths", "jobs"),
    "rekindle": ("frame",),
}
"""Folder of the product to those of its tests, where they have other names; the longest that fits counts."""
EVERYWHERE = ("execnodes/core", "execnodes/lowering", "execnodes/engine", "execnodes/state", "rekindle/engine",
              "rekindle/pipeline", "rekindle/spark", "rekindle/testing", "tests/conformance")  # fmt: skip
"""Folders that every program runs through."""


@dataclass(frozen=True)
class Change:
    """Files that differ, relative to the root."""

    files: tuple[str, ...]

    @cached_property
    def modules(self) -> frozenset[str]:
        """Python modules among them."""
        paths = (PurePosixPath(each) for each in self.files if each.endswith(".py"))
        names = (".".join(each.with_suffix("").parts).removesuffix(".__init__") for each in paths)
        return frozenset(names)

    @cached_property
    def test_modules(self) -> frozenset[str]:
        """Test modules that are changed, or import what is."""
        graph = grimp.build_graph(*PACKAGES, "tests", cache_dir=None)
        found, edge = set(self.modules), self.modules & graph.modules
        for _ in range(_DISTANCE):
            edge = frozenset(each for module in edge for each in graph.find_modules_that_directly_import(module))
            found |= edge
        return frozenset(each for each in found if each.startswith("tests."))

    @cached_property
    def folders(self) -> frozenset[str]:
        """Folders of tests that belong to changed ones."""
        return frozenset(name for file in self.files for name in folders_of_tests(file))

    @property
    def is_everywhere(self) -> bool:
        """Whether every program runs through it."""
        return any(file.startswith(f"{each}/") for file in self.files for each in EVERYWHERE)

    @cached_property
    def words(self) -> frozenset[str]:
        """What plans say of changed nodes, functions and connectors: ``"type": "stream-exec-join_``, ``$UPPER$``, …"""
        return frozenset(word for file in self.files for word in _words(PurePosixPath(file)))

    def reaches(self, item: pytest.Item) -> bool:
        """Whether a test is to run for it."""
        module = ".".join(item.path.relative_to(ROOT).with_suffix("").parts)
        if module in self.test_modules:
            return True
        given = [] if not hasattr(item, "callspec") else list(item.callspec.params.values())
        programs = [each for value in given for each in getattr(value, "programs", (value,)) if hasattr(each, "sql")]
        if programs:
            return self.is_everywhere or any(map(self._concerns, programs))
        return item.path.relative_to(ROOT).parts[1] in self.folders

    def _concerns(self, program: Any) -> bool:
        """Whether its plan has what is changed; a restore program is for a node."""
        plan = getattr(program, "fixture", program.folder if hasattr(program, "folder") else None)
        return bool(self.words) and any(word in _plan_text(program, plan) for word in self.words)


def _plan_text(program: Any, folder: Path | None) -> str:
    """The plan of a program; of one that has none stored, what compiling gives."""
    stored = None if folder is None else folder / "plan.json"
    if stored is not None and stored.exists():
        return stored.read_text(encoding="utf-8")
    return _compile(program.sql)


@cache
def _compile(sql: str) -> str:
    from execnodes.core.errors import RekindleError
    from rekindle.api.table_environment import TableEnvironment

    try:
        return TableEnvironment.create().compile_script(sql).as_json_string()
    except RekindleError:
        return sql


def folders_of_tests(file: str) -> tuple[str, ...]:
    """Folders of tests for a file of the product."""
    if file.partition("/")[0] not in PACKAGES:
        return ()
    known = [each for each in FOLDERS if file.startswith(f"{each}/")]
    inner = file.split("/")[1]
    own = (inner,) if (ROOT / "tests" / inner).is_dir() else ()
    return own or (FOLDERS[max(known, key=len)] if known else ())


def _words(file: PurePosixPath) -> Iterable[str]:
    match file.parts:
        case ("execnodes", "stream" | "batch" as mode, node, _):
            yield f'"{mode}-exec-{node.replace("_", "-")}_'
        case ("execnodes", "functions" | "aggregates", *_) if (ROOT / file).exists():
            names = re.findall(r'"([A-Z][A-Z_0-9 ]+|[=<>+*/%-]{1,2})"', (ROOT / file).read_text(encoding="utf-8"))
            yield from (f"${name}$" for name in names)
        case ("execnodes" | "rekindle", "connectors", *_):
            yield f'"{file.stem.replace("_", "-")}"'
        case _:
            return


def find_change(base: str | None = None) -> Change:
    """What differs from a commit."""
    since = base or _git("merge-base", "HEAD", "origin/main") or "HEAD~1"
    if since == _git("rev-parse", "HEAD"):
        since = "HEAD~1" if not _git("status", "--porcelain") else "HEAD"
    changed = _git("diff", "--name-only", since).split()
    return Change(tuple(sorted({*changed, *_git("ls-files", "--others", "--exclude-standard").split()})))


def _git(*arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()


def choose(items: Sequence[pytest.Item], change: Change) -> list[pytest.Item]:
    """The tests to run."""
    return [each for each in items if change.reaches(each) or crc32(each.nodeid.encode()) % _SHARE == 0]


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what the change does not reach."""
    change = find_change(os.environ.get("REKINDLE_BASE"))
    chosen = choose(items, change)
    names = {each.nodeid for each in chosen}
    config.hook.pytest_deselected(items=[each for each in items if each.nodeid not in names])
    items[:] = chosen
