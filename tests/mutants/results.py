"""Which test or program has caught which mutant, in a file that is written after each of them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Literal

from pydantic import TypeAdapter

from rekindle.files.atomic_file import write_atomically
from tests.mutants.mutant import Mutant

FILE = Path(__file__).with_name("caught.json")

Depth = Literal["near", "spark", "all"]


@dataclass(frozen=True)
class Result:
    """What became of a mutant."""

    digest: str
    """Of the mutant then."""
    by: str
    """The first test that failed, or ``rekindle test <program>``; empty if none did."""
    seconds: int
    tried: Depth
    """How far it was looked: ``near`` files without Spark, ``spark``, ``all``."""


_RESULTS = TypeAdapter(dict[str, Result])


def read_results(path: Path = FILE) -> dict[str, Result]:
    """By id."""
    return _RESULTS.validate_json(path.read_bytes()) if path.exists() else {}


def write_results(results: Mapping[str, Result], mutants: tuple[Mutant, ...], path: Path = FILE) -> None:
    """Of mutants that there are, in their order, a line each."""
    lines = [
        f"{json.dumps(each.id)}: {json.dumps(asdict(results[each.id]), ensure_ascii=False)}"
        for each in mutants
        if each.id in results
    ]
    write_atomically(path, "{\n" + ",\n".join(f" {each}" for each in lines) + "\n}\n", replace=True)


def is_caught(mutant: Mutant, results: Mapping[str, Result]) -> bool:
    """Whether the mutant, as it is, has been caught."""
    found = results.get(mutant.id)
    return found is not None and bool(found.by) and found.digest == mutant.digest
