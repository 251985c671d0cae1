"""What is defined is used: by the product itself, by a library that calls it, or by users, whom the docs tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from itertools import chain
from pathlib import Path

from rekindle.connectors.base import Connector
from rekindle.connectors.format import Format
from tests.completeness.tree import ROOT, module_name, sources, tree

HOUSES = {"execnodes", "planner", "plans", "rekindle"}
FOUND_BY_PLACE = (Connector, Format)
"""Classes that are found by the name of their module."""
HOOKS = {"pytest_addoption", "exec_module"}
"""What another program calls by its name, without a base class that has it."""
FOR_USERS = {"column_by_expression", "column_by_metadata", "hop"}
"""Methods that programs call, though no page names them."""


@cache
def used() -> frozenset[str]:
    """All names that are read, called or named by a text (as nodes name their kernels)."""
    folders = (ROOT / each for each in ("docs", "benchmarks", "releases"))
    files = chain(sources(), ROOT.glob("*.py"), *(each.rglob("*.py") for each in folders))
    return frozenset(name for file in files for node in ast.walk(tree(file)) for name in _names(node))


def _names(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Constant) and isinstance(node.value, str) and " " not in node.value:
        yield from re.findall(r"\w+", node.value)


@cache
def told() -> frozenset[str]:
    """All words of the documentation."""
    pages = chain(ROOT.glob("*.md"), (ROOT / "docs").rglob("*.md"))
    return frozenset(word for page in pages for word in re.findall(r"\w+", page.read_text(encoding="utf-8")))


def definitions(file: Path) -> Iterator[tuple[str, str | None]]:
    """Functions and classes, with the class that they stand in; without those that a decorator takes."""
    for owner in ast.walk(tree(file)):
        if isinstance(owner, ast.Module | ast.ClassDef):
            for node in owner.body:
                plain = isinstance(node, ast.ClassDef | ast.FunctionDef) and not any(map(_takes, node.decorator_list))
                if plain and isinstance(node, ast.ClassDef | ast.FunctionDef) and not node.name.startswith("__"):
                    yield node.name, owner.name if isinstance(owner, ast.ClassDef) else None


def _takes(decorator: ast.expr) -> bool:
    own = {"property", "staticmethod", "classmethod", "abstractmethod", "cached_property", "contextmanager", "cache"}
    return ast.unparse(decorator).partition("(")[0] not in own


def called_from_outside(file: Path, name: str, owner: str | None) -> bool:
    """Whether a class of a library asks for it, or it is found by its place."""
    if owner is None and name[0].islower():
        return name in HOOKS
    cls = getattr(import_module(module_name(file)), owner or name, None)
    if cls is None:
        # Made in a function, as its library is imported there.
        return True
    if owner is None:
        return issubclass(cls, FOUND_BY_PLACE)
    foreign = (base for base in cls.__mro__ if base.__module__.partition(".")[0] not in HOUSES)
    return any(hasattr(base, name) for base in foreign) or name in FOR_USERS | HOOKS


def test_what_is_defined_is_used() -> None:
    unused = [
        f"{file.relative_to(ROOT)}: {name}"
        for file in sources()
        for name, owner in definitions(file)
        if name not in used() and name not in told() and not called_from_outside(file, name, owner)
    ]
    assert unused == []
