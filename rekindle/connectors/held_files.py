"""Files of a sink that readers do not see yet: they are gathered, and shown as fewer and larger ones.

Rows of a micro-batch whose marker is set are either in a held file or in a file that is shown, never in both. What is
shown is written down before the first file is renamed: a crash before that changes nothing, and after it the rest is
done at the next start. Whether a file was renamed is seen in the hidden folder alone, so that readers may take away
what they have read.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from execnodes.core.errors import ConnectorError
from rekindle.connectors.file_marks import FileMarks
from rekindle.files.atomic_file import write_atomically

MARKERS = "_rekindle"
"""Hidden folder in a table's: what jobs have written so far, the files being written, and those that are held."""
SHOWN = "compacted-part"
"""What the names of files that were held begin with."""
_HELD, _MERGED, _JOURNAL, _SUFFIX = "held", "merged", "showing.json", ".held"
_KNOWN_BY_JOB = "held-files"
"""In the job's folder: a file for each sink that holds files."""

Merge = Callable[[Sequence[Path], Path], None]
"""Writes the rows of several files, in their order, into a new one."""


@dataclass(frozen=True, slots=True, order=True)
class HeldFile:
    """One of a micro-batch; in the order in which rows were written."""

    batch: int
    number: int
    """In its micro-batch."""
    folder: str
    """Of its partition, below the table's; empty without partitions."""
    extension: str
    """That it is shown with."""
    path: Path
    size: int
    """Bytes."""
    written: int
    """Epoch ms."""


class HeldPartition:
    """Files of one partition and format, in their order."""

    def __init__(self, files: Iterable[HeldFile] = ()) -> None:
        self.files: list[HeldFile] = []
        self.size = 0
        """Bytes of all."""
        self.first = self.last = 0
        """When the first and the last were written, epoch ms."""
        for each in files:
            self.add(each)

    def add(self, file: HeldFile) -> None:
        """A newer one."""
        self.first = min(self.first, file.written) if self.files else file.written
        self.last = max(self.last, file.written)
        self.size += file.size
        self.files.append(file)


class _Journal(BaseModel):
    """What is being shown."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    moves: tuple[tuple[str, str], ...]
    """From below the hidden folder to below the table's."""
    merged: tuple[str, ...]
    """Held files whose rows are in those that move, below the hidden folder."""


_SHOWING, _TARGET = TypeAdapter(_Journal), TypeAdapter(str)


class HeldFiles:
    """Of one job's sink."""

    def __init__(self, target: Path, job: str) -> None:
        """`target`: the table's folder."""
        self._target, self._job = target, job
        self._folder = target / MARKERS / job
        self._last_shown = 0
        self._left: Counter[int] = Counter()
        """Held files of each micro-batch."""
        self.partitions: dict[tuple[str, str], HeldPartition] = {}
        """By folder and extension."""

    @property
    def files(self) -> list[HeldFile]:
        """All of them, in their order."""
        return sorted(each for partition in self.partitions.values() for each in partition.files)

    def open(self, newest: int) -> set[Path]:
        """Find what is held up to a micro-batch, and finish what was being shown; the folders that this went into."""
        shown = self.finish()
        shutil.rmtree(self._folder / _MERGED, ignore_errors=True)
        self._left, self.partitions = Counter(), {}
        held = list((self._folder / _HELD).iterdir()) if (self._folder / _HELD).is_dir() else []
        for batch in sorted(int(each.name) for each in held):
            if batch <= newest:
                self.accept(batch)
            if not self._left[batch]:
                shutil.rmtree(self._folder / _HELD / str(batch))
        return shown

    def register(self, job_dir: Path) -> None:
        """Write down in the job's folder where its rows may be, for `show_held`."""
        write_atomically(job_dir / _KNOWN_BY_JOB / f"{self._job}.json", json.dumps(str(self._target)), replace=True)

    def hold(self, hidden: Path, batch: int, parts: Sequence[Path], extension: str) -> None:
        """Take the files of a micro-batch over from the folder that they were written into.

        They count once its marker is set and `accept` is called.
        """
        place = self._folder / _HELD / str(batch)
        if place.exists():
            # An earlier attempt stopped before the marker.
            shutil.rmtree(place)
        if not parts:
            return
        for number, part in enumerate(parts):
            part.replace(part.with_name(f"{number}{extension}{_SUFFIX}"))
        place.parent.mkdir(parents=True, exist_ok=True)
        hidden.replace(place)

    def accept(self, batch: int) -> None:
        """The marker of a micro-batch is set."""
        if self._left[batch]:
            return
        place = self._folder / _HELD / str(batch)
        paths = (Path(folder, name) for folder, _, names in os.walk(place) for name in names if name.endswith(_SUFFIX))
        for each in sorted(_held(batch, place, path) for path in paths):
            self.partitions.setdefault((each.folder, each.extension), HeldPartition()).add(each)
            self._left[batch] += 1

    def finish(self) -> set[Path]:
        """Go through with what failed while it was being shown; the folders that this went into."""
        journal = self._folder / _JOURNAL
        return self._finish(self._read(journal)) if journal.exists() else set()

    def show(self, groups: Sequence[Sequence[HeldFile]], merge: Merge) -> set[Path]:
        """Show each group as one file; the folders of their partitions. Call `finish` before."""
        merged_folder = self._folder / _MERGED
        shutil.rmtree(merged_folder, ignore_errors=True)
        moves, merged = list[tuple[str, str]](), list[str]()
        for number, group in enumerate(groups):
            last = group[-1]
            path = last.path
            if len(group) > 1:
                path = merged_folder / f"{number}{last.extension}{_SUFFIX}"
                merged_folder.mkdir(exist_ok=True)
                merge([each.path for each in group], path)
                _synchronize(path)
                merged += (self._below(each.path) for each in group)
            # No other group ends with that file.
            name = f"{SHOWN}-{self._job}-{last.batch}-{last.number}{last.extension}"
            moves.append((self._below(path), os.path.join(last.folder, name)))
        journal = _Journal(moves=tuple(moves), merged=tuple(merged))
        write_atomically(self._folder / _JOURNAL, journal.model_dump_json(), replace=True)
        return self._finish(journal)

    def _finish(self, journal: _Journal) -> set[Path]:
        """Do the rest of what is written down."""
        shown = set()
        for hidden, name in journal.moves:
            path, place = self._folder / hidden, self._target / name
            shown.add(place.parent)
            if path.exists():
                place.parent.mkdir(parents=True, exist_ok=True)
                # Readers go by times: what is shown later is later.
                self._last_shown = max(time.time_ns(), self._last_shown + 1_000_000)
                os.utime(path, ns=(self._last_shown, self._last_shown))
                path.replace(place)
        for each in journal.merged:
            (self._folder / each).unlink(missing_ok=True)
        self._forget({self._folder / each for each in (*journal.merged, *(hidden for hidden, _ in journal.moves))})
        (self._folder / _JOURNAL).unlink()
        shutil.rmtree(self._folder / _MERGED, ignore_errors=True)
        return shown

    def _forget(self, gone: set[Path]) -> None:
        for key, partition in list(self.partitions.items()):
            left = [each for each in partition.files if each.path not in gone]
            for batch, count in Counter(each.batch for each in partition.files if each.path in gone).items():
                self._left[batch] -= count
                if not self._left[batch]:
                    del self._left[batch]
                    shutil.rmtree(self._folder / _HELD / str(batch), ignore_errors=True)
            if not left:
                del self.partitions[key]
            elif len(left) < len(partition.files):
                self.partitions[key] = HeldPartition(left)

    def _below(self, path: Path) -> str:
        return str(path.relative_to(self._folder))

    def _read(self, journal: Path) -> _Journal:
        try:
            return _SHOWING.validate_json(journal.read_bytes())
        except ValidationError as error:
            raise ConnectorError(
                "the list of files that were being shown cannot be read",
                where=str(journal),
                hint="Restore the file from a backup; it is written as a whole, so something else has changed it.",
            ) from error


def show_held(job_dir: Path) -> None:
    """Show all that the sinks of a job hold which does not run, each file as it is."""
    for known in sorted((job_dir / _KNOWN_BY_JOB).glob("*.json")):
        target = Path(_TARGET.validate_json(known.read_bytes()))
        held = HeldFiles(target, known.stem)
        held.open(FileMarks(target / MARKERS / known.stem).newest())
        if held.partitions:
            held.show([[each] for each in held.files], _no_merge)


def _held(batch: int, place: Path, path: Path) -> HeldFile:
    number, dot, extension = path.name.removesuffix(_SUFFIX).partition(".")
    facts = path.stat()
    folder = str(path.parent.relative_to(place))
    return HeldFile(
        batch,
        int(number),
        "" if folder == "." else folder,
        dot + extension,
        path,
        facts.st_size,
        facts.st_mtime_ns // 1_000_000,
    )


def _no_merge(files: Sequence[Path], target: Path) -> None:
    raise AssertionError((files, target))


def _synchronize(path: Path) -> None:
    """Rows must not be lost with what they were copied from."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
