"""Flink's jars and its tests as data, in a folder of their own."""

from __future__ import annotations

import json
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
_PLANNER = "org/apache/flink/table/planner"
_FUNCTIONS, _EXPRESSIONS = f"{_PLANNER}/functions", f"{_PLANNER}/expressions"
_OPENED = ("java.base/java.util=ALL-UNNAMED", "java.base/java.lang=ALL-UNNAMED")


def specifications() -> Path:
    """A file with all that Flink's tests of functions specify, a case a line; made once."""
    tests = [each.stem for each in _classes(_FUNCTIONS, "ITCase")]
    return _made("functions.jsonl", f"{_FUNCTIONS.replace('/', '.')}.Specifications", tests)


def expressions() -> Path:
    """A file with all that Flink's tests of expressions ask for, a case a line; made once."""
    own = [each.stem for each in _classes(_EXPRESSIONS, "Test")]
    validations = [f"validation.{each.stem}" for each in _classes(f"{_EXPRESSIONS}/validation", "Test")]
    return _made("expressions.jsonl", "Expressions", own + validations)


def parsers() -> Path:
    """A file with the texts of Calcite's tests of parsers, and what Flink's parser says of each; made once."""
    program = "org.apache.calcite.sql.parser.Parsers"
    return _made("parsers.json", program, [], FOLDER / "parser", HERE / "parser")


def refusals(texts_of: Path, texts: list[str]) -> list[str | None]:
    """What Flink's planner has against each of the texts of a file, where the tables of `tables.sql` are."""
    asked = texts_of.with_name("asked.jsonl")
    if not asked.exists():
        asked.write_text("\n".join(map(json.dumps, texts)), encoding="utf-8")
    made = _made("refusals.jsonl", "Statements", [str(asked), str(HERE / "tables.sql")])
    return [json.loads(line) for line in made.read_text(encoding="utf-8").splitlines()]


def gateway_tests() -> Path:
    """The jar that holds the scripts of Flink's SQL gateway."""
    path = _class_path(FOLDER / "parser", HERE / "parser")
    return next(Path(each) for each in path.split(os.pathsep) if "flink-sql-gateway" in each)


def _made(name: str, program: str, given: list[str], folder: Path = FOLDER, programs: Path = HERE / "java") -> Path:
    made = folder / name
    if not made.exists():
        path, classes = _class_path(folder, HERE if folder == FOLDER else programs), folder / "classes"
        sources = sorted(programs.glob("*.java"))
        _run("javac", "-nowarn", "-Xlint:none", "-d", classes, "-cp", path, *sources)
        opened = [f"--add-opens={each}" for each in _OPENED]
        hidden = made.with_suffix(".making")
        # What is ours stands before Flink's, whose base of the tests of expressions it replaces.
        _run("java", *opened, "-cp", f"{classes}{os.pathsep}{path}", program, hidden, *given)
        hidden.rename(made)
    return made


def _class_path(folder: Path = FOLDER, project: Path = HERE) -> str:
    kept = folder / "class-path.txt"
    if not kept.exists():
        if shutil.which("mvn") is None:
            sys.exit("Maven (mvn) is not there: it brings Flink's jars")
        folder.mkdir(parents=True, exist_ok=True)
        pom = shutil.copy(project / "pom.xml", folder / "pom.xml")
        _run("mvn", "-q", "-B", "dependency:build-classpath", f"-Dmdep.outputFile={kept}", "-f", pom)
    return kept.read_text(encoding="utf-8").strip()


def _classes(folder: str, suffix: str) -> list[PurePosixPath]:
    """Test classes of a package."""
    jars = (each for each in _class_path().split(os.pathsep) if "flink-table-planner" in each)
    (jar,) = (each for each in jars if each.endswith("-tests.jar"))
    with zipfile.ZipFile(jar) as opened:
        paths = [PurePosixPath(name) for name in opened.namelist()]
    return sorted(each for each in paths if str(each.parent) == folder and each.name.endswith(f"{suffix}.class"))


def _run(*command: str | Path) -> None:
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{command[0]} failed:\n{(done.stdout + done.stderr)[-4000:]}")
