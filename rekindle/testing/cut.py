"""A program's input in consecutive pieces, run one after another with a savepoint and a restore between them."""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from execnodes.core.graph import ExecGraph
from execnodes.core.options import Configuration
from rekindle.testing.programs import Program, linked

_PARALLELISM = ((1, 8), (2, 3), (1, 5))
"""Parallelism and max parallelism of the pieces, in turn."""


@dataclass(frozen=True)
class Pieces:
    """A program in a folder of its own; each input file is a folder there, to which every piece adds a file."""

    program: Program
    count: int
    folder: Path

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
        if number:
            self.place(number)
        parallelism, groups = _PARALLELISM[number % len(_PARALLELISM)]
        options = Configuration(configuration)
        options.put("parallelism.default", str(parallelism))
        options.put("execution.state-recovery.path", str(self._savepoint(number - 1)) if number else "")
        changed = ExecGraph.of(graph.nodes, graph.inputs, groups, graph.engine_version)
        return changed, options, self._savepoint(number) if number + 1 < self.count else None

    def place(self, number: int) -> None:
        """Add a piece of every file; files keep the order of their times."""
        for file in sorted(each for each in (self.program.folder / "input").rglob("*") if each.is_file()):
            source = linked(file) or file
            data = _piece(source, number, self.count)
            target = self.folder / file.relative_to(self.program.folder)
            target.mkdir(parents=True, exist_ok=True)
            if data:
                placed = target / f"{number:03}{file.suffix}"
                placed.write_bytes(data)
                time = source.stat().st_mtime_ns + number * 86_400 * 10**9
                os.utime(placed, ns=(time, time))

    def _savepoint(self, number: int) -> Path:
        return self.folder / f"savepoint-{number}"


def cut_program(program: Program, count: int) -> Pieces | None:
    """A program in `count` pieces; None if it is to run whole: one piece, no input, or a file `nocut`."""
    if count == 1 or (program.folder / "nocut").exists() or not (program.folder / "input").is_dir():
        return None
    pieces = Pieces(program, count, Path(tempfile.mkdtemp(prefix="rekindle-cut-")))
    pieces.place(0)
    return pieces


def _piece(file: Path, number: int, count: int) -> bytes:
    data = file.read_bytes()
    if b"\0" in data or file.suffix in (".parquet", ".orc", ".avro"):
        return data if number == 0 else b""
    lines = data.splitlines(keepends=True)
    return b"".join(lines[len(lines) * number // count : len(lines) * (number + 1) // count])
