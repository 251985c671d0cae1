"""Text files that appear whole or not at all, and what only the owner can read."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from pathlib import Path

_OWNER = stat.S_IRWXU


def write_atomically(path: Path, text: str, *, replace: bool, private: bool = False) -> None:
    """Write UTF-8 text; missing folders are made. Without `replace`, FileExistsError if the file is there already.

    `private`: only the owner can read the file. Otherwise, as always, the umask decides.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:  # a file has the folder's name; what is asked for is not there already
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), str(path.parent)) from None
    # Long names leave no room for more.
    temporary = path.with_name(f".{path.name[:40]}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        with open(temporary, "x", encoding="utf-8", newline="\n", opener=owners_opener if private else None) as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if replace:
            temporary.replace(path)
        else:
            # A hard link is refused when the name is taken, even if another process took it a moment ago.
            path.hardlink_to(temporary)
    finally:
        temporary.unlink(missing_ok=True)


def private_folder(path: Path) -> None:
    """Make a folder that only its owner can enter, and missing ones above it; one that is there stays as it is."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.mkdir(mode=_OWNER, exist_ok=True)


def make_private(path: Path) -> None:
    """Take from all but the owner what they may do with a file or folder; what the umask took stays taken."""
    path.chmod(stat.S_IMODE(path.stat().st_mode) & _OWNER)


def owners_opener(path: str, flags: int) -> int:
    """For `open`: a file that it makes can be read by its owner alone."""
    return os.open(path, flags, stat.S_IRUSR | stat.S_IWUSR)
