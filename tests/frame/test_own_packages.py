"""Modules of the user that have the names of Rekindle's packages: on the path, in the folder, or imported before."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from rekindle.own_packages import LAUNCHER, NAMES

ROOT = Path(__file__).parents[2]
FOREIGN = "raise SystemExit('a module of the user was imported')\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Every name twice, as a file and as a package; `rekindle` only where a test wants it."""
    for name in NAMES[:-1]:
        (tmp_path / f"{name}.py").write_text(FOREIGN)
    (tmp_path / "plans").mkdir()
    (tmp_path / "plans" / "__init__.py").write_text(FOREIGN)
    return tmp_path


def python(*arguments: str, cwd: Path, path: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": path}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False)


@pytest.mark.parametrize("on_path", [False, True], ids=["folder", "PYTHONPATH"])
@pytest.mark.parametrize(
    "program",
    [
        "import rekindle, planner.parse, plans.format, execnodes.core",
        "import rekindle.cli.main, planner",
        "from rekindle import TableEnvironment; print(TableEnvironment.create().explain_sql('SELECT 1'))",
    ],
)
def test_import_loads_its_own_packages(folder: Path, on_path: bool, program: str) -> None:
    (folder / "main.py").write_text(f"{program}\nimport planner\nprint('FILE', planner.__file__)\n")
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    cwd, path = (elsewhere, f"{folder}{os.pathsep}{ROOT}") if on_path else (folder, str(ROOT))
    done = python(str(folder / "main.py"), cwd=cwd, path=path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"FILE {ROOT / 'planner' / '__init__.py'}" in done.stdout


@pytest.mark.parametrize("on_path", [False, True], ids=["folder", "PYTHONPATH"])
def test_the_command_loads_its_own_packages(folder: Path, on_path: bool) -> None:
    (folder / "rekindle.py").write_text(FOREIGN)
    (folder / "q.sql").write_text("SELECT 1;")
    path = f"{folder}{os.pathsep}{ROOT}" if on_path else str(ROOT)
    done = python("-P", LAUNCHER, "-m", "rekindle", "compile", "-f", "q.sql", "-o", "p.json", cwd=folder, path=path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_python_m_loads_its_own_packages(folder: Path) -> None:
    done = python("-m", "rekindle", "--version", cwd=folder, path=str(ROOT))
    assert done.returncode == 0, done.stderr
    done = python("-m", "rekindle", "explain", "-e", "SELECT 1", cwd=folder, path=str(ROOT))
    assert "defect" not in done.stderr


@pytest.mark.parametrize(("kind", "name"), [("file", "planner"), ("package", "plans"), ("folder", "execnodes")])
def test_a_module_that_was_there_first_is_named(tmp_path: Path, kind: str, name: str) -> None:
    place = tmp_path / (f"{name}.py" if kind == "file" else name)
    if kind != "file":
        place.mkdir()
        (place / "other.py").write_text("")
    if kind == "file":
        place.write_text("")
    elif kind == "package":
        place = place / "__init__.py"
        place.write_text("")
    # Without the place of Rekindle on the path a folder without __init__.py is a package, too.
    (tmp_path / "main.py").write_text(f"import {name}\nimport sys\nsys.path.append({str(ROOT)!r})\nimport rekindle\n")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-S", "main.py"], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    *_, message, hint = done.stderr.splitlines()
    said = f"ImportError: module '{name}' is already imported from {place}, and Rekindle has a package of that name"
    assert message == said
    assert hint.strip().startswith("Rename yours: ")


def test_the_command_names_a_module_that_was_there_first(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import planner\n")
    (tmp_path / "planner.py").write_text("")
    done = python("-P", LAUNCHER, "-m", "rekindle", "--version", cwd=tmp_path, path=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    first, second = done.stderr.splitlines()
    assert first.startswith(f"error: module 'planner' is already imported from {tmp_path / 'planner.py'}")
    assert second.startswith("  hint: Rename yours")
    (tmp_path / "sitecustomize.py").write_text("import rekindle\n")
    (tmp_path / "rekindle.py").write_text("")
    done = python("-P", LAUNCHER, "-m", "rekindle", "--version", cwd=tmp_path, path=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"module 'rekindle' is already imported from {tmp_path / 'rekindle.py'}" in done.stderr


def test_the_launcher_is_what_is_installed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["scripts"] == {"rekindle": "rekindle_launcher:run"}
    packages = project["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert sorted(packages) == sorted([*NAMES, Path(LAUNCHER).name])


@pytest.mark.parametrize("function", ["planner:f", "planner.shapes:f"])
def test_a_function_in_a_module_of_that_name_is_refused_with_its_file(tmp_path: Path, function: str) -> None:
    (tmp_path / "planner.py").write_text("def f(a: int) -> int:\n    return a\n")
    (tmp_path / "q.sql").write_text(f"CREATE FUNCTION f AS '{function}' LANGUAGE PYTHON;\nSELECT f(1);")
    path = f"{tmp_path}{os.pathsep}{ROOT}"
    done = python("-P", LAUNCHER, "-m", "rekindle", "explain", "-f", "q.sql", cwd=tmp_path, path=path)
    assert done.returncode == 1
    hint = f"Rename {tmp_path / 'planner.py'}: {ROOT / 'planner' / '__init__.py'} is loaded under the name 'planner'."
    assert hint in done.stderr


@pytest.mark.spark
def test_workers_load_their_own_packages(folder: Path) -> None:
    (folder / "rekindle.py").write_text(FOREIGN)
    (folder / "q.sql").write_text("SELECT a, COUNT(*) FROM (VALUES (1), (2), (2)) AS t(a) GROUP BY a;")
    path = f"{folder}{os.pathsep}{ROOT}"
    done = python("-P", LAUNCHER, "-m", "rekindle", "sql", "-f", "q.sql", cwd=folder, path=path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Received a total of" in done.stdout
