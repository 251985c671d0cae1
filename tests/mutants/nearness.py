"""Which test files are near a source file: those that are named after it, import it, or belong to its house."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

_IMPORT = re.compile(r"^ *(?:from ([\w.]+) import \(?([\w, ]*)|import ([\w.]+))", re.M)
_FOLDERS = {
    "planner/bind": ("plans", "planner", "batch"),
    "planner": ("plans", "planner", "batch"),
    "plans/format": ("plans", "check"),
    "plans": ("evolution", "check", "plans", "terms"),
    "execnodes/functions": ("functions", "core", "net"),
    "execnodes/core": ("core", "plans", "evolution"),
    "execnodes/terms": ("terms", "evolution"),
    "execnodes/aggregates": ("kernels", "net"),
    "execnodes/kernels": ("kernels", "net"),
    "execnodes/engine": ("engine", "kernels"),
    "execnodes/stream": ("kernels", "net", "restore", "evolution"),
    "execnodes/batch": ("batch", "net"),
    "rekindle/connectors": ("connectors",),
    "rekindle/engine": ("engine",),
    "rekindle/savepoints": ("savepoints", "evolution"),
    "rekindle/runtime": ("runtime", "jobs", "cli"),
}
"""Folders of source files to those of their tests, longer paths first among those that match."""
NAMED, DIRECT, HELPED, PACKAGE, HOUSE, REST = range(6)
"""How near a test file is."""
_EXCLUDED = "tests/mutants/"
"""The check of the mutants themselves sees every one."""


def rank_tests(root: Path, file: str) -> dict[str, int]:
    """All test files, by their paths, to how near they are; the nearest first, then by path."""
    module = _module(file)
    package = module.rpartition(".")[0]
    reached = _imports(root)
    folders = next((found for path, found in _by_length() if file.startswith(f"{path}/")), ())
    ranks: dict[str, int] = {}
    for test in sorted(_tests(root)):
        direct = reached[_module(test)]
        helped = {each for helper in direct if helper.startswith("tests.") for each in _reach(helper, reached)}
        if _is_named_after(Path(test).stem, file):
            ranks[test] = NAMED
        elif module in direct:
            ranks[test] = DIRECT
        elif module in helped:
            ranks[test] = HELPED
        elif package in direct | helped:
            ranks[test] = PACKAGE
        elif test.split("/")[1] in folders:
            ranks[test] = HOUSE
        else:
            ranks[test] = REST
    order = {f"tests/{folder}/": at for at, folder in enumerate(folders)}

    def place(test: str) -> tuple[int, int, str]:
        return ranks[test], order.get(f"{test.rpartition('/')[0]}/", len(order)), test

    return {each: ranks[each] for each in sorted(ranks, key=place)}


def _is_named_after(test: str, file: str) -> bool:
    path = Path(file)
    names = {path.stem} if not re.match(r"v\d", path.stem) else {path.parent.name}
    return test.removeprefix("test_") in names


def _by_length() -> Iterator[tuple[str, tuple[str, ...]]]:
    return iter(sorted(_FOLDERS.items(), key=lambda each: -len(each[0])))


def _reach(module: str, reached: Mapping[str, frozenset[str]]) -> set[str]:
    """What a helper of tests imports, and helpers that it imports."""
    found: set[str] = set()
    left = [module]
    while left:
        for each in reached.get(left.pop(), ()):
            if each not in found:
                found.add(each)
                left += [each] if each.startswith("tests.") else []
    return found


@cache
def _imports(root: Path) -> dict[str, frozenset[str]]:
    """Modules below `tests` to what they import; of ``from a import b`` both a and a.b."""
    return {
        _module(str(path.relative_to(root))): frozenset(_imported(path.read_text(encoding="utf-8")))
        for path in (root / "tests").rglob("*.py")
    }


def _imported(text: str) -> Iterator[str]:
    for source, names, plain in _IMPORT.findall(text):
        yield source or plain
        for name in names.split(","):
            if name.strip():
                yield f"{source}.{name.split()[0]}"


@cache
def _tests(root: Path) -> tuple[str, ...]:
    paths = (str(each.relative_to(root)) for each in (root / "tests").rglob("test_*.py"))
    return tuple(each for each in paths if not each.startswith(_EXCLUDED))


def _module(file: str) -> str:
    return file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
