"""The doctor's checks, each with a machine that is well and one that is not."""

import sys
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from rekindle.doctor import (
    Finding,
    check,
    check_folder,
    check_java,
    check_memory,
    check_package,
    check_packages,
    check_python,
    check_spark,
    check_worker_python,
    java_version,
    memory_limit,
)


def program(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime', 17),
        ('java version "1.8.0_392"', 8),
        ('openjdk version "21" 2023-09-19', 21),
        ("no java", None),
    ],
)
def test_java_versions(text: str, version: int | None) -> None:
    assert java_version(text) == version


@pytest.mark.parametrize(("version", "ok"), [("17.0.1", True), ("21", True), ("11.0.2", False), ("1.8.0_1", False)])
def test_java(version: str, ok: bool, tmp_path: Path) -> None:
    program(tmp_path / "bin" / "java", f"echo 'openjdk version \"{version}\"' >&2")
    for environment in ({"JAVA_HOME": str(tmp_path)}, {"PATH": str(tmp_path / "bin")}):
        finding = check_java(environment)
        assert (finding.name, finding.ok, bool(finding.remedy)) == ("java", ok, not ok)


def test_java_that_is_not_there(tmp_path: Path) -> None:
    assert "no bin/java in JAVA_HOME" in check_java({"JAVA_HOME": str(tmp_path)}).detail
    finding = check_java({"PATH": str(tmp_path)})
    assert (finding.ok, "no java is on the PATH" in finding.detail) == (False, True)
    program(tmp_path / "bin" / "java", "exit 1")
    assert "does not tell its version" in check_java({"JAVA_HOME": str(tmp_path)}).detail


def test_python() -> None:
    assert check_python((3, 11)).ok
    assert check_python((3, 14)).ok
    assert "Install Python 3.11" in check_python((3, 10)).remedy


def test_the_python_of_workers(tmp_path: Path) -> None:
    assert check_worker_python({}).ok
    assert check_worker_python({"PYSPARK_PYTHON": sys.executable}).ok
    old = check_worker_python({"PYSPARK_PYTHON": str(program(tmp_path / "python", "echo 3.9"))})
    assert (old.ok, old.detail.startswith("3.9"), sys.executable in old.remedy) == (False, True, True)
    assert "cannot be run" in check_worker_python({"PYSPARK_PYTHON": str(tmp_path / "none")}).detail


@pytest.mark.parametrize(
    ("requirement", "ok", "detail"),
    [
        ("packaging>=20", True, ""),
        ("packaging>=1,<2", False, "is not in <2,>=1"),
        ("rekindle-no-such-package", False, "not installed"),
    ],
)
def test_packages(requirement: str, ok: bool, detail: str) -> None:
    finding = check_package(Requirement(requirement), {"packaging": ["packaging"]})
    assert (finding.ok, detail in finding.detail, bool(finding.remedy)) == (ok, True, not ok)


def test_a_package_that_is_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "rk_broken.py").write_text("raise ImportError('no such symbol')\n")
    monkeypatch.syspath_prepend(tmp_path)
    finding = check_package(Requirement("packaging"), {"rk_broken": ["packaging"]})
    assert "cannot be imported: no such symbol" in finding.detail
    assert finding.remedy.endswith("--force-reinstall.")


def test_what_is_not_installed_at_all() -> None:
    (finding,) = check_packages("rekindle-no-such-package")
    assert (finding.ok, finding.remedy) == (False, "Run pip install rekindle-no-such-package.")


def test_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert check_folder("job folder", tmp_path / "new" / "jobs").ok
    (tmp_path / "file").write_text("")
    assert "cannot be written" in check_folder("job folder", tmp_path / "file").detail
    monkeypatch.setattr("rekindle.doctor.FREE_DISK", 2**70)
    assert check_folder("job folder", tmp_path).remedy.startswith("Free ")


def test_memory() -> None:
    assert check_memory(8 * 1024**3) == Finding("memory", True, "8.0 GiB")
    assert not check_memory(1024**3).ok
    assert memory_limit() > 0


def test_spark_that_does_not_start() -> None:
    finding = check_spark("raise RuntimeError('no room')")
    assert (finding.ok, "RuntimeError: no room" in finding.detail) == (False, True)


def test_spark_that_answers() -> None:
    assert check_spark("print('4.3.0', 3)").detail.startswith("Spark 4.3.0, session and a Python worker in ")
    assert not check_spark("print('4.3.0', 2)").ok


def test_everything_but_spark() -> None:
    findings = check(start_spark=False)
    names = [finding.name for finding in findings]
    assert names[:3] == ["python", "worker python", "java"]
    assert len(set(names)) == len(names)
    assert all(finding.ok or finding.remedy for finding in findings)


@pytest.mark.long
@pytest.mark.spark
def test_spark() -> None:
    finding = check_spark()
    assert finding.ok, finding
