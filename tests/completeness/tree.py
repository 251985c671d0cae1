"""The tree of sources, walked: modules, node classes, syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from execnodes.core.metadata import NodeKey
from execnodes.core.node import ExecNode
from execnodes.core.registry import keys, lookup

ROOT = Path(__file__).parents[2]
HOUSES = ("execnodes", "planner", "plans", "rekindle")
KEYS = keys()


def sources(*houses: str) -> list[Path]:
    """Python files of some houses (all if none), sorted."""
    return sorted(path for house in houses or HOUSES for path in (ROOT / house).rglob("*.py"))


def module_name(path: Path) -> str:
    """``execnodes.core.node`` of its path."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@cache
def tree(path: Path) -> ast.Module:
    """The syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def node_file(key: NodeKey) -> Path:
    """Where a node version must live."""
    return ROOT.joinpath(*key.module.split(".")).with_suffix(".py")


def own_files(key: NodeKey) -> list[Path]:
    """Files of a version: module and kernels, those of the newest its class serves, and all they import there."""
    folder = node_file(key).parent
    newest = max(each.key for each in lookup(key).METADATA)
    package = key.module.rpartition(".")[0]
    left = {path for version in {key, newest} for path in folder.glob(f"v{version.version}*.py")}
    found: set[Path] = set()
    while left:
        path = left.pop()
        found.add(path)
        names = (name.removeprefix(f"{package}.") for name in imports(path) if name.startswith(f"{package}."))
        left |= {folder / f"{name}.py" for name in names} - found
    return sorted(found)


def node_class(key: NodeKey) -> tuple[type[ExecNode], ast.ClassDef]:
    """A node class and its syntax tree."""
    cls = lookup(key)
    file = ROOT.joinpath(*cls.__module__.split(".")).with_suffix(".py")
    return cls, next(each for each in tree(file).body if isinstance(each, ast.ClassDef) and each.name == cls.__name__)


def imports(path: Path, *, top_level: bool = False) -> Iterator[str]:
    """Modules that a file imports; with `top_level` only those imported when the file is (not for type checks)."""
    nodes: Iterable[ast.AST] = tree(path).body if top_level else ast.walk(tree(path))
    for each in nodes:
        if isinstance(each, ast.Import):
            yield from (alias.name for alias in each.names)
        elif isinstance(each, ast.ImportFrom) and each.module:
            yield each.module


def texts(path: Path) -> Iterator[str]:
    """String constants of a file."""
    for each in ast.walk(tree(path)):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value
