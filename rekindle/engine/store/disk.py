"""All that log and store ask of storage, and what they may count on after a crash.

Files never change: they are made whole, under names that were never used before. What `write_durably` and
`put_if_absent` have returned from is still there after a crash; what they were interrupted in may be there or not, but
a name that `put_if_absent` gives is never seen with other content than all of it.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import pyarrow as pa

from execnodes.core.errors import JobError
from rekindle.files.atomic_file import owners_opener

TEMPORARY = ".tmp"
"""How names end that nobody may count on."""
NOT_WHOLE = "The job's folder is not whole. Start from a savepoint."


class Disk(Protocol):
    """Operations of storage; OSError where one fails. Paths are below a folder that the disk knows."""

    def __hash__(self) -> int: ...

    def place(self, path: str) -> str:
        """Where a file is, as errors name it."""
        ...

    def create(self, path: str, parts: Iterable[bytes | pa.Buffer]) -> None:
        """Make a file; its content is safe when this returns, its name only after `sync_folder`."""
        ...

    def link(self, path: str, name: str) -> None:
        """Give a file a second name; FileExistsError if that is taken, even a moment ago."""
        ...

    def remove(self, path: str) -> None:
        """Take a name away; nothing happens if there is no such file."""
        ...

    def sync_folder(self, folder: str) -> None:
        """Make names of a folder safe, given and taken ones; nothing happens if there is no such folder."""
        ...

    def names(self, folder: str) -> list[str]:
        """Names in a folder; none if there is no folder."""
        ...

    def read(self, path: str) -> pa.Buffer:
        """A file's content, of which only what is touched need be loaded. FileNotFoundError."""
        ...


def write_durably(disk: Disk, path: str, parts: Iterable[bytes | pa.Buffer]) -> None:
    """A new file that a crash does not take away any more."""
    disk.create(path, parts)
    disk.sync_folder(os.path.dirname(path))


def put_if_absent(disk: Disk, path: str, data: bytes) -> bool:
    """Make a file under a name that others may want, too; False if one of them was first.

    Either way the name stays with what it names. After an OSError it may have been given or not.
    """
    temporary = f"{path}.{secrets.token_hex(4)}{TEMPORARY}"
    try:
        disk.create(temporary, [data])
        try:
            disk.link(temporary, path)
        except FileExistsError:
            return False
        return True
    finally:
        disk.remove(temporary)
        disk.sync_folder(os.path.dirname(path))


@dataclass(frozen=True, slots=True)
class LocalDisk:
    """A folder of this machine, or one that its file system shares; only the owner can read what is made."""

    root: str

    def create(self, path: str, parts: Iterable[bytes | pa.Buffer]) -> None:
        """See Disk."""
        place = self.place(path)
        if not os.path.isdir(folder := os.path.dirname(place)):
            os.makedirs(folder, mode=0o700, exist_ok=True)
            self.sync_folder("")
        with open(place, "xb", opener=owners_opener) as file:
            for part in parts:
                file.write(part)
            file.flush()
            os.fsync(file.fileno())

    def link(self, path: str, name: str) -> None:
        """See Disk."""
        os.link(self.place(path), self.place(name))

    def remove(self, path: str) -> None:
        """See Disk."""
        try:
            os.unlink(self.place(path))
        except FileNotFoundError:
            return

    def sync_folder(self, folder: str) -> None:
        """See Disk."""
        try:
            descriptor = os.open(self.place(folder), os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            return
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def names(self, folder: str) -> list[str]:
        """See Disk."""
        try:
            return os.listdir(self.place(folder))
        except FileNotFoundError:
            return []
        except NotADirectoryError as error:
            raise JobError("this is no folder", where=self.place(folder), hint=NOT_WHOLE) from error

    def read(self, path: str) -> pa.Buffer:
        """See Disk; pages are the system's to drop. JobError for what is there and cannot be read."""
        place = self.place(path)
        # Whoever opens a pipe waits for a writer.
        if os.path.exists(place) and not os.path.isfile(place):
            raise JobError("this is no file", where=place, hint=NOT_WHOLE)
        try:
            with pa.memory_map(place) as file:
                return file.read_buffer()
        except FileNotFoundError:
            raise
        except OSError as error:
            why = os.strerror(error.errno) if error.errno else str(error)
            raise JobError(f"the file cannot be read: {why}", where=place, hint=NOT_WHOLE) from error

    def place(self, path: str) -> str:
        """See Disk."""
        return os.path.join(self.root, path)
