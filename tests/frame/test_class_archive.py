"""The archive of Java's classes: where it is, when it is used, and that Spark starts from it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from rekindle.doctor import make_class_archive
from rekindle.own_packages import LAUNCHER
from rekindle.spark.class_archive import class_archive, usable

_START = f"""
import runpy
runpy.run_path({LAUNCHER!r})["load_rekindle"]()
from pathlib import Path
from rekindle.spark.session import session
spark = session(1)
java = spark.sparkContext._jvm.java.lang.ProcessHandle.current().pid()
print(spark.range(3).count(), "classes-" in Path(f"/proc/{{java}}/maps").read_text())
"""


def _java(folder: Path) -> Path:
    program = folder / "bin" / "java"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def test_each_java_and_each_spark_has_its_own(tmp_path: Path) -> None:
    java = _java(tmp_path / "jdk")
    home = {"JAVA_HOME": str(tmp_path / "jdk"), "HOME": str(tmp_path)}
    found = class_archive(home)
    assert found is not None
    assert found.parent == tmp_path / ".cache" / "rekindle"
    assert class_archive({"PATH": str(java.parent), "HOME": str(tmp_path)}) == found
    elsewhere = class_archive({**home, "XDG_CACHE_HOME": str(tmp_path / "c")})
    assert elsewhere == tmp_path / "c" / "rekindle" / found.name
    assert class_archive({**home, "SPARK_HOME": str(tmp_path)}) != found
    os.utime(java, (1, 1))
    assert class_archive(home) != found


def test_without_java_or_a_folder_there_is_none(tmp_path: Path) -> None:
    assert class_archive({"PATH": str(tmp_path), "HOME": str(tmp_path)}) is None
    _java(tmp_path)
    assert class_archive({"JAVA_HOME": str(tmp_path)}) is None
    assert class_archive({"JAVA_HOME": str(tmp_path), "HOME": 'a"b'}) is None
    finding = make_class_archive({"JAVA_HOME": str(tmp_path)})
    assert (finding.ok, finding.remedy) == (False, "Set JAVA_HOME, and HOME or XDG_CACHE_HOME.")


def test_only_an_archive_that_nobody_else_can_write_is_used(tmp_path: Path) -> None:
    archive = tmp_path / "a b.jsa"
    assert (usable(None), usable(archive)) == (None, None)
    archive.write_text("")
    archive.chmod(0o600)
    assert usable(archive) == archive
    archive.chmod(0o620)
    assert usable(archive) is None


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    finding = make_class_archive({**os.environ, "XDG_CACHE_HOME": str(tmp_path / "file")})
    assert not finding.ok
    assert "could not be made" in finding.detail


@pytest.mark.long
def test_spark_starts_from_it_and_from_a_broken_one(tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "a cache")}

    def start() -> list[str]:
        command = [sys.executable, "-P", "-c", _START]
        # A Java that ends at once leaves a log where it was started.
        done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        return done.stdout.split() or done.stderr.splitlines()[-2:]

    assert start() == ["3", "False"]
    for _ in range(2):
        finding = make_class_archive(environment)
        assert finding.ok, finding
        assert start() == ["3", "True"]
    archive = class_archive(environment)
    assert archive is not None
    assert [each.name for each in archive.parent.iterdir()] == [archive.name]
    with archive.open("r+b") as file:
        file.truncate(1000)
    assert "JobError" in "".join(start())
    assert not archive.exists()
    assert start() == ["3", "False"]
