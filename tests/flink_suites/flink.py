"""Flink's jars and its tests as data, in a folder of their own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path, PurePosixPath

HERE = Path(__file__).parent
FOLDER = Path(os.environ.get("REKINDLE_FLINK_SUITES", Path(tempfile.gettempdir()) / "rekindle-flink-suites"))
"""Where class paths, compiled programs and what they wrote are kept."""
_PACKAGE = "org/apache/flink/table/planner/functions"
_OPENED = ("java.base/java.util=ALL-UNNAMED", "java.base/java.lang=ALL-UNNAMED")


def specifications() -> Path:
    """A file with all that Flink's tests of functions specify, a case a line; made once."""
    made = FOLDER / "functions.jsonl"
    if not made.exists():
        path = _class_path()
        classes = FOLDER / "classes"
        _run("javac", "-nowarn", "-Xlint:none", "-d", classes, "-cp", path, HERE / "java" / "Specifications.java")
        hidden = made.with_suffix(".making")
        opened = [f"--add-opens={each}" for each in _OPENED]
        program = f"{_PACKAGE.replace('/', '.')}.Specifications"
        _run("java", *opened, "-cp", f"{classes}{os.pathsep}{path}", program, hidden, *_tests(path))
        hidden.rename(made)
    return made


def _class_path() -> str:
    kept = FOLDER / "class-path.txt"
    if not kept.exists():
        if shutil.which("mvn") is None:
            sys.exit("Maven (mvn) is not there: it brings Flink's jars")
        FOLDER.mkdir(parents=True, exist_ok=True)
        shutil.copy(HERE / "pom.xml", FOLDER / "pom.xml")
        _run("mvn", "-q", "-B", "dependency:build-classpath", f"-Dmdep.outputFile={kept}", "-f", FOLDER / "pom.xml")
    return kept.read_text(encoding="utf-8").strip()


def _tests(class_path: str) -> list[str]:
    """Names of the test classes of functions."""
    (jar,) = (
        each for each in class_path.split(os.pathsep) if "flink-table-planner" in each and each.endswith("-tests.jar")
    )
    with zipfile.ZipFile(jar) as opened:
        paths = [PurePosixPath(name) for name in opened.namelist()]
    return sorted(each.stem for each in paths if str(each.parent) == _PACKAGE and each.name.endswith("ITCase.class"))


def _run(*command: str | Path) -> None:
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{(done.stdout + done.stderr)[-4000:]}")
