"""A disk that crashes, fails and fills up: what was not synced may be lost, torn or there, in any order."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from random import Random

import pyarrow as pa


class Crash(BaseException):
    """The machine has stopped; nothing of the program goes on."""


@dataclass
class _Folder:
    """Names now, and those that a crash would leave."""

    names: dict[str, bytes] = field(default_factory=dict)
    safe: dict[str, bytes] = field(default_factory=dict)


class SimulatedDisk:
    """See `Disk`. Faults are asked for: `crash_in` and `fail_in` count operations that change something."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._folders: dict[str, _Folder] = {}
        self.crash_in: int | None = None
        """So many operations more, and the machine stops in the midst of one."""
        self.fail_in: int | None = None
        """So many operations more, and one fails."""
        self.full = False
        """Whether no more fits in."""
        self.between: Callable[[], None] = lambda: None
        """What happens before each operation: others that use the same disk."""

    def place(self, path: str) -> str:
        return path

    def create(self, path: str, parts: Iterable[bytes | pa.Buffer]) -> None:
        self.between()
        folder, name = self._at(path)
        content = b"".join(bytes(part) for part in parts)
        if name in folder.names:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        torn = content[: self._random.randint(0, len(content))]
        self._fault(lambda: folder.names.__setitem__(name, torn))
        if self.full:
            folder.names[name] = torn
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        folder.names[name] = content

    def link(self, path: str, name: str) -> None:
        self.between()
        folder, old = self._at(path)
        other, new = self._at(name)
        if old not in folder.names:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        if new in other.names:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
        # It may be done, and said to have failed.
        self._fault(lambda: other.names.__setitem__(new, folder.names[old]) if self._random.random() < 0.5 else None)
        other.names[new] = folder.names[old]

    def remove(self, path: str) -> None:
        self.between()
        folder, name = self._at(path)
        self._fault(lambda: None)
        folder.names.pop(name, None)

    def sync_folder(self, folder: str) -> None:
        self.between()
        self._fault(lambda: None)
        found = self._folders.setdefault(folder, _Folder())
        found.safe = dict(found.names)

    def names(self, folder: str) -> list[str]:
        return list(self._folders.setdefault(folder, _Folder()).names)

    def read(self, path: str) -> pa.Buffer:
        folder, name = self._at(path)
        if name not in folder.names:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return pa.py_buffer(folder.names[name])

    def restart(self) -> None:
        """The machine begins again with what storage has kept."""
        self.crash_in = self.fail_in = None
        self.full = False
        for folder in self._folders.values():
            kept = {}
            for name in sorted(folder.safe.keys() | folder.names.keys()):
                before, now = folder.safe.get(name), folder.names.get(name)
                found = before if before == now or self._random.random() < 0.5 else now
                if found is not None:
                    kept[name] = found
            folder.names, folder.safe = dict(kept), dict(kept)

    def _at(self, path: str) -> tuple[_Folder, str]:
        folder, _, name = path.rpartition("/")
        return self._folders.setdefault(folder, _Folder()), name

    def _fault(self, half: Callable[[], object]) -> None:
        """`half`: what may have been done when the operation does not come to its end."""
        if self.crash_in is not None:
            self.crash_in -= 1
            if self.crash_in < 0:
                half()
                raise Crash
        if self.fail_in is not None:
            self.fail_in -= 1
            if self.fail_in < 0:
                self.fail_in = None
                half()
                raise OSError(errno.EIO, os.strerror(errno.EIO))
