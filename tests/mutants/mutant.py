"""A mutant: a text of a source file, and the mistake in its place."""

from __future__ import annotations

import ast
import hashlib
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pydantic import ConfigDict, TypeAdapter

ROOT = Path(__file__).parents[2]
FILE = Path(__file__).with_name("mutants.toml")

House = Literal[
    "planner rule",
    "planner bind",
    "plan format",
    "node",
    "kernel",
    "function",
    "aggregate",
    "connector",
    "savepoint",
    "engine",
    "compatibility",
    "runtime",
]
HOUSES: tuple[House, ...] = get_args(House)


@dataclass(frozen=True)
class Mutant:
    """One mistake."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    id: str
    house: House
    file: str
    """Path below the root of the tree."""
    old: str
    """Occurs once in the file."""
    new: str
    wrong: str
    """What goes wrong, in a sentence."""
    program: str = ""
    """Folder of a conformance program that shows it, for what no small test sees."""

    @property
    def digest(self) -> str:
        """Changes with what is mutated and how."""
        return hashlib.sha256("\0".join((self.file, self.old, self.new)).encode()).hexdigest()[:16]

    def apply(self, text: str) -> str:
        """The file's text with the mistake; ValueError if there is no such place."""
        if text.count(self.old) != 1:
            raise ValueError(f"{self.id}: the old text occurs {text.count(self.old)} times in {self.file}, not once")
        return text.replace(self.old, self.new)


def load_mutants(path: Path = FILE) -> tuple[Mutant, ...]:
    """All of them, in the order of the file."""
    with path.open("rb") as file:
        return TypeAdapter(tuple[Mutant, ...]).validate_python(tomllib.load(file)["mutant"])


def find_problems(mutants: tuple[Mutant, ...], root: Path = ROOT) -> Iterator[str]:
    """What keeps mutants from being run."""
    for name, count in Counter(each.id for each in mutants).items():
        if count > 1:
            yield f"{name}: the id occurs {count} times"
    for each in mutants:
        path = root / each.file
        if not path.is_file():
            yield f"{each.id}: file {each.file} does not exist"
            continue
        if each.program and not (root / each.program / "program.sql").is_file():
            yield f"{each.id}: program {each.program} does not exist"
        try:
            before = path.read_text(encoding="utf-8")
            if _dump(each.apply(before)) == _dump(before):
                yield f"{each.id}: the new text means the same as the old one"
        except (ValueError, SyntaxError) as error:
            yield str(error) if isinstance(error, ValueError) else f"{each.id}: the new text does not parse: {error}"


def _dump(text: str) -> str:
    return ast.dump(ast.parse(text))
