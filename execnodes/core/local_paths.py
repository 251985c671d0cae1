"""Paths as people write them: local ones, and ``file:`` addresses of these. Others are refused here, and only here."""

from __future__ import annotations

import os
import re
from urllib.parse import unquote

from execnodes.core.errors import RekindleError

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(?=/)")
"""How an address begins. A `pathlib.Path` of one has a single slash left."""
_HOST = re.compile(r"file:(?://(?P<host>[^/]*))?(?P<path>/.*)", re.IGNORECASE | re.DOTALL)


class PathError(RekindleError):
    """A path that no file can have, or that an engine would take for another one."""


def find_scheme(text: str) -> str | None:
    """The scheme of an address (``s3``, ``file``), in lower case; None for a path."""
    found = _ADDRESS.match(text)
    return None if found is None else found[1].lower()


def parse_local_path(path: str | os.PathLike[str]) -> str:
    """The path that a path or a ``file:`` address names; PathError for an address of another file system.

    Nothing but local disks, and what is mounted there, is read or written by these paths: an address would be taken
    for the name of a folder in the working directory.
    """
    text = os.fspath(path)
    scheme = find_scheme(text)
    if scheme is None:
        return text
    if scheme != "file":
        raise PathError(
            f"the path cannot be used: {scheme}: is not a local file system, and no other one is supported here",
            where=text,
            hint="Give a local path (storage that is mounted has one), or copy the files. "
            "A local folder of that name needs its absolute path.",
        )
    found = _HOST.fullmatch(text)
    if found is None or (found["host"] or "localhost").lower() != "localhost":
        raise PathError(
            "the path cannot be used: a file: address cannot name another host",
            where=text,
            hint="Write file:///folder/file, with three slashes, or the path alone.",
        )
    return unquote(found["path"])
