"""A program's input in pieces: runs one after another with a savepoint between them, or micro-batches of one run."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Self

from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from rekindle.testing.programs import Program, linked

_PARALLELISM = ((1, 8), (2, 3), (1, 5))
"""Parallelism and max parallelism of the pieces, in turn."""
_DAY = 86_400
_MOST = 4
"""Micro-batches of a file, where their sizes are drawn."""


@dataclass(frozen=True)
class MicroBatches:
    """How lines of a file fall into micro-batches; each source reads one file of its own in each."""

    seed: int | None
    """By which sizes are drawn, 0 lines among them; None: a line each."""

    def bounds(self, name: str, lines: int) -> list[int]:
        """Where micro-batches begin and end."""
        if self.seed is None:
            return list(range(lines + 1))
        random = Random(f"{self.seed} {name}")
        return [0, *sorted(random.randint(0, lines) for _ in range(random.randint(1, _MOST - 1))), lines]


@dataclass(frozen=True)
class Pieces:
    """A program in a folder of its own; each input file is a folder there, to which every piece adds a file.

    With `micro_batches` it adds a file for each of them.
    """

    program: Program
    count: int
    folder: Path
    micro_batches: MicroBatches | None = None

    @property
    def sql(self) -> str:
        """The script over that folder; begins with the first piece in place, so that sources find their files."""
        text = (self.program.folder / "program.sql").read_text(encoding="utf-8")
        return text.replace("${dir}", str(self.folder))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def begin(
        self, number: int, graph: ExecGraph, configuration: Configuration
    ) -> tuple[ExecGraph, Configuration, Path | None]:
        """Put a piece in place: the graph and options to run it with, and the savepoint to end with."""
        options = Configuration(configuration)
        if self.micro_batches is not None:
            options.put("execution.micro-batch.max-files", "1")
        if self.count == 1:
            return graph, options, None
        if number:
            self.place(number)
        parallelism, groups = _PARALLELISM[number % len(_PARALLELISM)]
        options.put("parallelism.default", str(parallelism))
        options.put("execution.state-recovery.path", str(self._savepoint(number - 1)) if number else "")
        changed = ExecGraph.of(graph.nodes, graph.inputs, groups, graph.engine_version)
        return changed, options, self._savepoint(number) if number + 1 < self.count else None

    def place(self, number: int) -> None:
        """Add a piece of every file; files keep the order of their times."""
        files = [each for each in (self.program.folder / "input").rglob("*") if each.is_file()]
        for order, file in enumerate(sorted(files, key=lambda each: (_modified(each) // 1_000_000, each))):
            target = self.folder / file.relative_to(self.program.folder)
            target.mkdir(parents=True, exist_ok=True)
            for at, data in enumerate(self._parts(file, number)):
                placed = target / f"{number:03}-{at:04}{file.suffix}"
                placed.write_bytes(data)
                time = _modified(file) + (number * _DAY + order * 3600 + at) * 10**9
                os.utime(placed, ns=(time, time))

    def _parts(self, file: Path, number: int) -> Iterator[bytes]:
        """The files that a piece of a file is made of."""
        lines = _piece(linked(file) or file, number, self.count)
        if self.micro_batches is None:
            yield from [b"".join(lines)] if lines else []
            return
        bounds = self.micro_batches.bounds(f"{file.name} {number}", len(lines))
        # One without lines, too, is a micro-batch: others may have rows in it.
        yield from (b"".join(lines[start:end]) for start, end in pairwise(bounds))

    def _savepoint(self, number: int) -> Path:
        return self.folder / f"savepoint-{number}"


def cut_program(program: Program, count: int, micro_batches: MicroBatches | None = None) -> Pieces | None:
    """A program in `count` pieces; None if it is to run whole: one piece and batch, no input, or a file `nocut`."""
    if (count == 1 and micro_batches is None) or (program.folder / "nocut").exists():
        return None
    if not (program.folder / "input").is_dir():
        return None
    pieces = Pieces(program, count, Path(tempfile.mkdtemp(prefix="rekindle-cut-")), micro_batches)
    pieces.place(0)
    return pieces


def _modified(file: Path) -> int:
    return (linked(file) or file).stat().st_mtime_ns


def _piece(file: Path, number: int, count: int) -> list[bytes]:
    data = file.read_bytes()
    if b"\0" in data or file.suffix in (".parquet", ".orc", ".avro"):
        return [data] if number == 0 else []
    lines = data.splitlines(keepends=True)
    return lines[len(lines) * number // count : len(lines) * (number + 1) // count]
