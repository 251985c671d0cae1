r"""Paths as engines take them. Every path that goes to Spark or DuckDB goes through here: both read more into a text.

Spark takes ``[ ] { } * ? \`` for patterns where it reads, its state readers take an address for a path, and Hadoop
fills in ``${…}`` where it writes. DuckDB takes ``[ ] * ?`` for patterns, ``?`` for the end of a file's name, and ``\``
for ``/``. Python, Arrow and Polars take an absolute path for what it is.
"""

from __future__ import annotations

import atexit
import hashlib
import os
import re
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.local_paths import PathError, parse_local_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

AS_WRITTEN = {"__globPaths__": "false", "recursiveFileLookup": "true"}
"""Options of a Spark batch reader that is given files: they are no patterns, and their folders tell no columns.

Where folders are called ``k=v`` Spark reads some files several times otherwise.
"""
_HARMLESS = re.compile(r"[A-Za-z0-9_./-]+")
"""What no engine reads anything into."""
_ADDRESS = re.compile(r"[\w./~!'(),;:$&+=@*-]+")
"""What an address is written with as it is."""
_PATTERN = re.compile(r"[\[\]{}*?\\]")
"""What Hadoop reads as a pattern."""


def entered(path: str | Path) -> Path:
    """A path or ``file:`` address that someone has given, absolute; PathError if no file can be called so."""
    text = parse_local_path(path)
    if "\0" in text:
        raise _refused(text, "it contains a NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise _refused(text, "it is not UTF-8") from None
    longest = max(len(each.encode()) for each in text.split("/"))
    if longest > 255:
        raise _refused(text, f"a name in it has {longest:,} bytes, and 255 are the most")
    # Hadoop leaves out ``..`` and what is before it, which is another folder behind a link.
    plain = os.path.abspath(text)
    return Path(plain if os.path.realpath(plain) == os.path.realpath(text) else os.path.realpath(text))


def local_path(path: str | Path) -> Path:
    """The path that a path or ``file:`` address names, as it is written; PathError as for `entered`."""
    entered(path)
    return Path(parse_local_path(path))


def for_spark(spark: SparkSession, path: str | Path) -> str:
    """A local path for Spark's writers, and for its batch readers with `AS_WRITTEN`.

    PathError if Spark would take it for another one.
    """
    local = entered(path)
    _check_encoding(spark, local)
    text = str(local)
    if "${" in text:
        jvm = spark._jvm
        assert jvm is not None
        configuration = jvm.org.apache.hadoop.conf.Configuration(spark._jsc.hadoopConfiguration())
        configuration.set("rekindle.path", text)
        if configuration.get("rekindle.path") != text:
            raise _refused(text, "Hadoop replaces ${…} in it by a value")
    # Without the scheme it would belong to the default file system.
    return f"file:{text}"


def escaped(text: str) -> str:
    """A Hadoop pattern that only the text itself matches."""
    return _PATTERN.sub(r"\\\g<0>", text)


def for_spark_checkpoint(spark: SparkSession, path: Path) -> str:
    """A job's checkpoint, for Spark to write; PathError if `for_spark_state` could not read it later."""
    for_spark_state(spark, path)
    return for_spark(spark, path)


def for_spark_state(spark: SparkSession, path: Path) -> str:
    """A local checkpoint for Spark's readers of state.

    They write a path as an address, and then take that for a path. One that this changes gets a link, which executors
    on this machine know; PathError if they are elsewhere.
    """
    local = entered(path)
    _check_encoding(spark, local)
    text = str(local)
    if _ADDRESS.fullmatch(text):
        return f"file:{text}"
    if not str(spark.sparkContext.master).startswith("local"):
        raise _refused(text, "Spark cannot read the state of a job there, but in local mode: some character is special")
    return f"file:{_link(local, '')}"


def for_duckdb(path: Path) -> str:
    """A file that DuckDB shall read: the path itself, or that of a link to it."""
    local = entered(path)
    if _HARMLESS.fullmatch(str(local)):
        return str(local)
    return str(_link(local, local.suffix if _HARMLESS.fullmatch(local.suffix) else ""))


def for_duckdb_to_write(path: Path) -> str:
    """A file of a harmless name that DuckDB shall make: the path itself, or one by a link to its folder."""
    local = entered(path)
    return str(local) if _HARMLESS.fullmatch(str(local)) else str(_link(local.parent, "") / local.name)


def for_duckdb_database(path: str | Path) -> str:
    """A database, which DuckDB finds behind every link; PathError if DuckDB would take its path for another one."""
    local = entered(path)
    if {"?", "\\"} & set(str(local)):
        raise _refused(str(local), "DuckDB has no way to write ? and \\ in the path of a database")
    return str(local)


def _link(target: Path, suffix: str) -> Path:
    link = _links() / f"{_digest(str(target))}{suffix}"
    if not link.is_symlink():
        link.symlink_to(target)
    return link


@lru_cache(maxsize=1)
def _links() -> Path:
    """A folder of this process, which goes when the process ends."""
    folder = Path(os.path.abspath(tempfile.mkdtemp(prefix="rekindle-links-")))
    if not _HARMLESS.fullmatch(str(folder)):
        folder.rmdir()
        raise PathError(
            "DuckDB cannot write the name of the temporary folder", where=str(folder.parent), hint="Set TMPDIR."
        )
    owner = os.getpid()

    def remove() -> None:
        # Not by a process that was forked off.
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _check_encoding(spark: SparkSession, path: Path) -> None:
    """Java writes file names as the locale says that it was started with, and puts ``?`` where that has no letter."""
    if str(path).isascii():
        return
    jvm = spark._jvm
    assert jvm is not None
    encoding = str(jvm.java.lang.System.getProperty("sun.jnu.encoding"))
    if encoding.upper() not in ("UTF-8", "UTF8"):
        raise PathError(
            f"Spark runs with the file names of {encoding}, which has not all letters of the path",
            where=str(path),
            hint="Start Spark with LC_ALL=C.UTF-8 in its environment, or give another path.",
        )


def _refused(path: str, reason: str) -> PathError:
    return PathError(f"the path cannot be used: {reason}", where=_shown(path), hint="Give another path.")


def _shown(path: str) -> str:
    """On one line, as far as it can be written."""
    text = path.encode("utf-8", "backslashreplace").decode()
    return text.encode("unicode_escape").decode() if "\0" in text else text
