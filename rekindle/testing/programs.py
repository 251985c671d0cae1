"""Program folders: `program.sql`, `input/`, the rows that must come out, or `refused.txt`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from execnodes.core.errors import JobError
from rekindle.testing.materialize import Row

_EXPECTATIONS = ("rekindle-expected", "sink-expected", "expected")
"""Stems of files with rows; the first that exists counts: right rows where Flink's own are wrong, what the INSERT
leaves in the sink, the SELECT's result."""


class Mode(StrEnum):
    """How programs are run."""

    DEFAULT = "default"
    """As users run them: a row is late by the watermark of the micro-batches before."""
    ROW = "row"
    """A row is late by the watermark of the rows before, as in Flink."""
    BATCH = "batch"
    """As batch jobs, where no row is late."""


@dataclass(frozen=True)
class Program:
    """A folder with a program."""

    folder: Path
    name: str
    """``area/name``."""

    @property
    def sql(self) -> str:
        """The script, ``${dir}`` replaced by the folder."""
        try:
            text = (self.folder / "program.sql").read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise JobError(f"program.sql cannot be read: {error}", where=str(self.folder)) from error
        text = text.replace("${dir}", str(self.folder))
        for file in self.folder.glob("input/*"):
            target = linked(file)
            if target is not None:
                text = text.replace(f"{file}'", f"{target}'")
        return text

    @property
    def refusal(self) -> str | None:
        """Why the program must be refused; None if it must be answered."""
        path = self.folder / "refused.txt"
        return path.read_text(encoding="utf-8").strip() if path.exists() else None

    @property
    def not_in_batch(self) -> str | None:
        """Why batch mode refuses the program or gives other rows; None if it gives the same."""
        path = self.folder / "nobatch"
        return path.read_text(encoding="utf-8").strip() if path.exists() else None

    @property
    def late(self) -> str | None:
        """Which row is late, so that rows depend on what the watermark is taken from; None if there is none."""
        path = self.folder / "late"
        return path.read_text(encoding="utf-8").strip() if path.exists() else None

    @property
    def mode(self) -> Mode:
        """The one that gives the rows of the folder."""
        return Mode.DEFAULT if self.late is None else Mode.ROW

    @property
    def judged(self) -> bool:
        """Whether rows are known."""
        return bool(list(self.folder.glob("*expected*.jsonl")))

    def expected(self, sink: str) -> list[Row] | None:
        """Rows that must be in a sink (its table's name) at the end; None if the folder does not say."""
        for stem in _EXPECTATIONS:
            for name in (f"{stem}.{sink}.jsonl", f"{stem}.jsonl"):
                if (self.folder / name).exists():
                    return _rows(self.folder / name)
        return None

    def schema(self, sink: str) -> Mapping[str, str] | None:
        """Column names to types of a sink; None if the folder does not say."""
        for name in (f"schema.{sink}.json", "schema.json"):
            path = self.folder / name
            if path.exists():
                try:
                    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
                except ValueError as error:
                    raise JobError(f"{name} is not JSON: {error}", where=str(self.folder)) from error
                return found
        return None


def discover(paths: Iterable[Path]) -> list[Program]:
    """All programs below some folders, by name; JobError if there is none, or if a path does not exist."""
    found: dict[Path, Program] = {}
    for path in paths:
        if not path.exists():
            raise JobError("there is no such folder", where=str(path), hint="Name folders that hold program.sql.")
        files = [path] if path.is_file() else sorted(path.rglob("program.sql"))
        folders = [file.parent.resolve() for file in files if file.name == "program.sql"]
        if not folders:
            raise JobError(
                "there is no program below this folder",
                where=str(path),
                hint="A program is a folder with program.sql, input/ and expected.jsonl.",
            )
        for folder in folders:
            found[folder] = Program(folder, f"{folder.parent.name}/{folder.name}")
    return sorted(found.values(), key=lambda program: program.name)


def in_batch(programs: Iterable[Program]) -> list[Program]:
    """Those that must give the same rows in batch mode: not those a stream refuses, which batch mode may well take."""
    return [each for each in programs if each.not_in_batch is None and each.refusal is None]


def linked(file: Path) -> Path | None:
    """Target of a symbolic link that a checkout without links has left as a file with the target's path in it."""
    if not file.is_file() or file.is_symlink() or file.stat().st_size > 200:
        return None
    text = file.read_text(encoding="utf-8", errors="replace")
    target = file.parent / text if text.startswith("../") and "\n" not in text else None
    return target.resolve() if target is not None and target.is_file() else None


def _rows(path: Path) -> list[Row]:
    rows: list[Row] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise JobError(f"this is not JSON: {error}", where=f"{path}, line {number}") from error
        if not isinstance(row, list):
            raise JobError("a row is a JSON array", where=f"{path}, line {number}")
        rows.append(row)
    return rows
