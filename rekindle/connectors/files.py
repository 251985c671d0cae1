"""Files behind a path: a file, a folder (with all below it) or a glob; on local disks or any Hadoop file system."""

from __future__ import annotations

import glob
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from execnodes.core.errors import ConnectorError
from execnodes.core.local_paths import PathError, find_scheme, parse_local_path
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


def require_readable(path: str, role: str, table: str) -> None:
    """PathError for a path that no table can have; ConnectorError for one outside of local disks that a sink is given.

    What is read may be in any file system that Spark has the jar for; it is asked when the job starts.
    """
    if is_local(path):
        try:
            parse_local_path(path)
        except PathError as error:
            raise PathError(error.message, where=f"table {table}, {path}", hint=error.hint) from error
    elif role == "sink":
        raise ConnectorError(
            f"the filesystem sink writes to local folders, not to {path}",
            where=f"table {table}",
            hint="Use the connector 'spark' for remote storage.",
        )


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
    system = file_system(spark, target, path, table)
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


_JARS = {
    "s3a": "org.apache.hadoop:hadoop-aws",
    "gs": "com.google.cloud.bigdataoss:gcs-connector",
    "abfs": "org.apache.hadoop:hadoop-azure",
    "abfss": "org.apache.hadoop:hadoop-azure",
    "wasb": "org.apache.hadoop:hadoop-azure",
    "wasbs": "org.apache.hadoop:hadoop-azure",
    "oss": "org.apache.hadoop:hadoop-aliyun",
    "cosn": "org.apache.hadoop:hadoop-cos",
}
"""Where Hadoop's file systems are that Spark does not bring."""
_ABSENT = re.compile(r"ClassNotFoundException|NoClassDefFoundError|No FileSystem for scheme")


def file_system(spark: SparkSession, target: Any, path: str, table: str) -> Any:
    """Hadoop's file system of an address; ConnectorError if Spark has no class for it."""
    from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]  # it has no stubs

    try:
        return target.getFileSystem(spark._jsc.hadoopConfiguration())
    except Py4JJavaError as error:
        if not _ABSENT.search(str(error)):
            raise
    scheme = find_scheme(path) or ""
    jar = _JARS.get(scheme)
    hint = f"Start with -D spark.jars.packages={jar}:<version>, or name its file in spark.jars." if jar else None
    if scheme in ("s3", "s3n"):
        jar = _JARS["s3a"]
        hint = f"Write s3a://, which is Hadoop's name for it, and start with -D spark.jars.packages={jar}:<version>."
    raise ConnectorError(
        f"Spark cannot read {scheme}:// addresses: {f'jar {jar}' if jar else 'a jar'} is missing on its class path",
        where=f"table {table}, {path}",
        hint=hint or "Name the jar of its Hadoop file system in spark.jars or spark.jars.packages.",
    )


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
