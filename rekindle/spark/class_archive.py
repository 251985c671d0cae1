"""An archive of the Java classes that Spark loads, from which its Java process starts faster.

It is Java's own (dynamic class data sharing, JEP 350) and made when the user asks for it. Java looks by itself whether
an archive is of its version and of unchanged jars, and else starts as if there were none.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
from collections.abc import Mapping
from pathlib import Path

_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"
_BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def java_program(environment: Mapping[str, str]) -> str | None:
    """The `java` that Spark runs in; None if there is none."""
    home = environment.get("JAVA_HOME")
    return shutil.which("java", path=str(Path(home) / "bin") if home else environment.get("PATH", ""))


def class_archive(environment: Mapping[str, str]) -> Path | None:
    """Where the archive for this Java and this Spark is, or would be; None if there is no Java or no home."""
    import pyspark

    java, home = java_program(environment), environment.get("HOME")
    cache = environment.get("XDG_CACHE_HOME") or (home and os.path.join(home, ".cache"))
    if java is None or not cache:
        return None
    program = os.path.realpath(java)
    spark = environment.get("SPARK_HOME") or os.path.dirname(pyspark.__file__)
    if set(cache) & set('"\\'):
        # Spark splits its options at these.
        return None
    known = program, str(os.stat(program).st_mtime_ns), os.path.realpath(spark), pyspark.__version__
    name = hashlib.sha256(repr(known).encode()).hexdigest()[:16]
    return Path(cache, "rekindle", f"classes-{name}.jsa")


def usable(archive: Path | None) -> Path | None:
    """The archive; None if it is not there, or others may have written it."""
    try:
        found = None if archive is None else archive.stat()
    except OSError:
        return None
    return archive if found and found.st_uid == os.getuid() and not found.st_mode & _BY_OTHERS else None


def using(archive: Path) -> str:
    """Options of Java that use an archive."""
    return f'"-XX:SharedArchiveFile={archive}" {_QUIET}'


def making(archive: Path) -> str:
    """Options of Java that make an archive when it ends."""
    return f'"-XX:ArchiveClassesAtExit={archive}" {_QUIET}'
