"""Files behind a path: a file, a folder (with all below it) or a glob; on local disks or any Hadoop file system."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import ConnectorError
from rekindle.connectors.line_text import local_path
from rekindle.files.paths import entered, for_spark

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


@dataclass(frozen=True, order=True)
class SourceFile:
    """A file to read; ordered by modification time (epoch ms), then path."""

    modified: int
    path: str

    @property
    def folder(self) -> str:
        """Where the file lies."""
        return self.path.rpartition("/")[0] or "/"

    @property
    def name(self) -> str:
        """Without the folder."""
        return name_of(self.path)


def is_local(path: str) -> bool:
    """Whether a path is on this machine's disks."""
    return re.match(r"[A-Za-z][A-Za-z0-9+.-]+://", path) is None or path.startswith("file:/")


def absolute(path: str) -> str:
    """A path without ``file:``, absolute if it is local."""
    return str(entered(local_path(path))) if is_local(path) else path.rstrip("/")


def list_files(spark: SparkSession, path: str, table: str) -> tuple[SourceFile, ...]:
    """Files in the order they are read; ConnectorError if there is nothing at the path. Hidden ones do not count."""
    found = _local(absolute(path), table) if is_local(path) else _remote(spark, path, table)
    return tuple(sorted(found))


def _missing(path: str, table: str) -> ConnectorError:
    return ConnectorError(
        f"there is no file or folder {path}",
        where=f"table {table}",
        hint="Correct the option 'path', or create the folder; an empty folder is read as an empty table.",
    )


def _local(path: str, table: str) -> list[SourceFile]:
    if os.path.exists(path):
        roots = [path]
    elif glob.has_magic(path):
        root = glob_root(path)
        roots = sorted(glob.glob(glob.escape(root) + path.removeprefix(root), recursive=True))
    else:
        roots = []
    if not roots:
        raise _missing(path, table)
    files: set[str] = set()
    for root in roots:
        if os.path.isdir(root):
            files.update(below(root))
        elif not hidden(os.path.basename(root)):
            files.add(root)
        elif root == path:
            raise ConnectorError(
                f"{path} is a hidden file: Spark does not read names that begin with '_' or '.'",
                where=f"table {table}",
                hint="Rename it.",
            )
    return [SourceFile(os.stat(each).st_mtime_ns // 1_000_000, each) for each in files]


def below(root: str) -> list[str]:
    """Files in a local folder and in those below it, without hidden ones."""
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(each for each in folders if not hidden(each))
        found += [os.path.join(folder, name) for name in names if not hidden(name)]
    return found


def hidden(name: str) -> bool:
    """Whether Spark and Flink pass over a file or folder; partition folders such as ``_k=1`` they do not."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name) or name.endswith("._COPYING_")


def _remote(spark: SparkSession, path: str, table: str) -> list[SourceFile]:
    jvm = spark._jvm
    assert jvm is not None
    target = jvm.org.apache.hadoop.fs.Path(path)
    system = target.getFileSystem(spark._jsc.hadoopConfiguration())
    roots = system.globStatus(target)
    if not roots:
        raise _missing(path, table)
    found = []
    for root in roots:
        listing = system.listFiles(root.getPath(), True)
        while listing.hasNext():
            status = listing.next()
            address = status.getPath().toString()
            below = address.removeprefix(str(root.getPath().getParent()))
            if not any(map(hidden, below.split("/"))):
                found.append(SourceFile(status.getModificationTime(), address))
    return found


def name_of(path: str) -> str:
    """Without the folder."""
    return path.rpartition("/")[2]


def batch_path(spark: SparkSession, path: str) -> str:
    """A file for a batch reader with `AS_WRITTEN`."""
    return for_spark(spark, path) if is_local(path) else path


def glob_root(path: str) -> str:
    """The folder before the first wildcard of a glob; the path itself if it has none or exists as written."""
    if not glob.has_magic(path) or (is_local(path) and Path(path).exists()):
        return path
    parts = path.split("/")
    fixed = 0
    while not glob.has_magic(parts[fixed]) or (is_local(path) and os.path.exists("/".join(parts[: fixed + 1]))):
        fixed += 1
    return "/".join(parts[:fixed]) or "/"
