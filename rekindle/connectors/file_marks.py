"""How far a job has written into a folder: a file that has the number of its newest micro-batch for a name."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

_NUMBER = re.compile(r"[0-9]{1,18}")
_UNFINISHED = re.compile(r"([0-9]{1,18})\.(?:tmp|done)")


class FileMarks:
    """Micro-batches of one job come in the order of their numbers, so one marker answers for all before it.

    Only a micro-batch that is not committed comes again, which is the newest one. Releases before 2.5 left a marker for
    each micro-batch; theirs are read, and so are ours by them.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def open(self) -> None:
        """Make the folder, and remove the markers and the unfinished files that are no longer needed."""
        self._folder.mkdir(parents=True, exist_ok=True)
        self._remove_before(self.newest())

    def newest(self) -> int:
        """The number of the newest micro-batch that is complete; -1 before the first."""
        if not self._folder.is_dir():
            return -1
        return max((int(each) for each in os.listdir(self._folder) if _NUMBER.fullmatch(each)), default=-1)

    def add(self, number: int) -> None:
        """Everything of a micro-batch is there; also what was before it."""
        done = self._folder / f"{number}.done"
        done.touch()
        done.replace(self._folder / str(number))
        self._remove_before(number)

    def _remove_before(self, newest: int) -> None:
        """A crash meanwhile leaves markers that the next start removes."""
        for name in os.listdir(self._folder):
            path = self._folder / name
            if _NUMBER.fullmatch(name):
                if int(name) < newest:
                    path.unlink(missing_ok=True)
            elif (found := _UNFINISHED.fullmatch(name)) is not None and int(found[1]) <= newest:
                if path.is_dir():
                    shutil.rmtree(path, ignore_errors=True)
                else:
                    path.unlink(missing_ok=True)
