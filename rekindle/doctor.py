"""What Rekindle needs from a machine: Java, Python, packages, a Spark that starts, room on disk and in memory."""

from __future__ import annotations

import importlib
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement

from rekindle.own_packages import LAUNCHER
from rekindle.spark.class_archive import class_archive, java_program

OLDEST_JAVA = 17
OLDEST_PYTHON = (3, 11)
FREE_DISK = 2 * 1024**3
"""Bytes that should be free where jobs keep their files."""
MEMORY = 3 * 1024**3
"""Bytes that the driver, its Java machine and the Python workers take together, small jobs included."""
START_SECONDS = 180
_START_FIRST = "Put the other findings right first; if there are none, the message says what Spark lacks."
_PROBE = f"""
import runpy
runpy.run_path({LAUNCHER!r})["load_rekindle"]()
from rekindle.spark.session import session
spark = session(1)
rows = spark.range(3).mapInPandas(lambda frames: frames, "id long").count()
print(spark.version, rows)
spark.stop()
"""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was checked."""

    name: str
    ok: bool
    detail: str
    """What was found."""
    remedy: str = ""
    """What to do; empty when there is nothing."""


def check(job_dir: Path | None = None, *, start_spark: bool = True) -> list[Finding]:
    """Look at this machine; `job_dir` is where jobs keep their files (the temporary folder if None)."""
    java = check_java(os.environ)
    findings = [check_python(sys.version_info[:2]), check_worker_python(os.environ), java, *check_packages()]
    folders = {"temporary folder": Path(tempfile.gettempdir())}
    if job_dir is not None:
        folders["job folder"] = job_dir
    findings += [check_folder(name, folder) for name, folder in folders.items()]
    findings += [check_memory(memory_limit()), *check_jars()]
    if start_spark:
        findings.append(check_spark() if java.ok else Finding("spark", False, "not tried without Java", java.remedy))
    return findings


def check_python(version: tuple[int, int]) -> Finding:
    """This interpreter is new enough."""
    oldest = ".".join(map(str, OLDEST_PYTHON))
    ok = version >= OLDEST_PYTHON
    text = f"{platform.python_implementation()} {platform.python_version()} ({sys.executable})"
    return Finding("python", ok, text, "" if ok else f"Install Python {oldest} or newer and make a venv with it.")


def check_worker_python(environment: Mapping[str, str]) -> Finding:
    """Spark's workers run the same minor version of Python."""
    ours = "{}.{}".format(*sys.version_info[:2])
    program = environment.get("PYSPARK_PYTHON")
    if program is None:
        return Finding("worker python", True, f"{ours} (this interpreter)")
    remedy = f"Unset PYSPARK_PYTHON, or set it to {sys.executable}."
    output = _run([program, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"])
    if output is None:
        return Finding("worker python", False, f"PYSPARK_PYTHON={program} cannot be run", remedy)
    theirs = output.strip()
    ok = theirs == ours
    return Finding("worker python", ok, f"{theirs} (PYSPARK_PYTHON={program})", "" if ok else remedy)


def check_java(environment: Mapping[str, str]) -> Finding:
    """Java is there and new enough."""
    install = f"Install a JDK {OLDEST_JAVA} or newer and set JAVA_HOME to its folder."
    program = java_program(environment)
    if program is None:
        home = environment.get("JAVA_HOME")
        where = f"no bin/java in JAVA_HOME={home}" if home else "JAVA_HOME is not set and no java is on the PATH"
        return Finding("java", False, where, install)
    output = _run([program, "-version"])
    version = java_version(output or "")
    if version is None:
        return Finding("java", False, f"{program} does not tell its version", install)
    ok = version >= OLDEST_JAVA
    return Finding("java", ok, f"Java {version} ({program})", "" if ok else install)


def java_version(text: str) -> int | None:
    """The feature release in the output of ``java -version``: 17 for ``17.0.15``, 8 for ``1.8.0_392``."""
    match = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(match[1]) if match else None


def check_packages(distribution: str = "rekindle") -> list[Finding]:
    """Every required package is installed, in range, and can be imported."""
    try:
        lines = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return [Finding("packages", False, f"{distribution} is not installed", f"Run pip install {distribution}.")]
    requirements = [Requirement(line) for line in lines]
    needed = [each for each in requirements if each.marker is None or each.marker.evaluate({"extra": ""})]
    modules = metadata.packages_distributions()
    return [check_package(each, modules) for each in needed]


def check_package(requirement: Requirement, modules: Mapping[str, list[str]]) -> Finding:
    """One package; `modules` maps top-level modules to distributions."""
    name = f"package {requirement.name}"
    remedy = f"Run pip install '{requirement.name}{requirement.specifier}'."
    try:
        version = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        return Finding(name, False, "not installed", remedy)
    if not requirement.specifier.contains(version, prereleases=True):
        return Finding(name, False, f"{version} is not in {requirement.specifier}", remedy)
    owned = [module for module, owners in modules.items() if requirement.name in owners and module.isidentifier()]
    public = sorted(module for module in owned if not module.startswith("_"))
    usual = requirement.name.replace("-", "_")
    for module in [usual] if usual in public else public[:1]:
        try:
            importlib.import_module(module)
        except (ImportError, OSError) as error:
            return Finding(name, False, f"{version} cannot be imported: {error}", f"{remedy[:-1]} --force-reinstall.")
    return Finding(name, True, version)


def check_folder(name: str, folder: Path) -> Finding:
    """A folder can be written and has room."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"rekindle")
    except OSError as error:
        remedy = "Choose another: TMPDIR for the temporary folder, execution.job-dir for jobs."
        return Finding(name, False, f"{folder} cannot be written: {error.strerror}", remedy)
    free = shutil.disk_usage(folder).free
    ok = free >= FREE_DISK
    remedy = f"Free {_size(FREE_DISK)}: checkpoints and state lie there."
    return Finding(name, ok, f"{folder}, {_size(free)} free", "" if ok else remedy)


def check_memory(size: int) -> Finding:
    """The machine, or the container, is large enough."""
    ok = size >= MEMORY
    remedy = f"Give the machine or container {_size(MEMORY)}, or lower spark.driver.memory and parallelism.default."
    return Finding("memory", ok, _size(size), "" if ok else remedy)


def memory_limit() -> int:
    """Bytes of memory this process may use: of the machine, or of its control group if that is less."""
    sizes = [os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")]
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        limit = Path(path)
        if limit.is_file() and (text := limit.read_text().strip()).isdigit():
            sizes.append(int(text))
    return min(sizes)


def check_jars() -> list[Finding]:
    """What Spark must be given for connectors and formats; whether a job gives it is seen when a table is opened."""
    from rekindle.connectors.jars import needed, remedy
    from rekindle.connectors.registry import register_installed

    register_installed()
    return [Finding(who, True, f"needs {jar.artifact}", remedy(jar)) for who, jar in needed()]


def check_spark(probe: str = _PROBE, clock: Callable[[], float] = time.monotonic) -> Finding:
    """A session starts in a process of its own, and rows go through a Python worker."""
    begin = clock()
    try:
        done = subprocess.run(
            [sys.executable, "-P", "-c", probe], capture_output=True, text=True, timeout=START_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        return Finding("spark", False, f"did not start within {START_SECONDS} s", _START_FIRST)
    seconds = clock() - begin
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if line.strip()]
        return Finding("spark", False, f"did not start: {lines[-1] if lines else 'no message'}", _START_FIRST)
    version, rows = done.stdout.split()[-2:]
    ok = rows == "3"
    return Finding(
        "spark", ok, f"Spark {version}, session and a Python worker in {seconds:.1f} s", "" if ok else _START_FIRST
    )


def make_class_archive(environment: Mapping[str, str]) -> Finding:
    """Everyday queries run in a process of its own, whose Java leaves an archive of its classes for later ones."""
    name, archive = "class archive", class_archive(environment)
    if archive is None:
        return Finding(name, False, "no Java, or no folder for it", "Set JAVA_HOME, and HOME or XDG_CACHE_HOME.")
    try:
        archive.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=archive.parent) as own:
            made = Path(own, archive.name)
            command = [sys.executable, "-P", LAUNCHER, "-m", "rekindle.everyday", str(made)]
            # An archive cannot be made of a Java that has started from one: it finds none in a folder of its own.
            done = subprocess.run(
                command,
                env={**environment, "XDG_CACHE_HOME": own},
                capture_output=True,
                text=True,
                timeout=START_SECONDS,
                check=False,
            )
            if done.returncode == 0:
                made.chmod(0o600)
                made.replace(archive)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding(name, False, f"could not be made: {error}", "Nothing needs it: Spark only starts more slowly.")
    if done.returncode != 0:
        said = [line for line in done.stderr.splitlines() if line.strip()]
        return Finding(name, False, f"could not be made: {said[-1] if said else 'no message'}", _START_FIRST)
    return Finding(name, True, f"{archive}, {_size(archive.stat().st_size)}")


def _run(command: list[str]) -> str | None:
    """Output of a short program, errors included; None if it cannot be run."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout + done.stderr if done.returncode == 0 else None


def _size(size: int) -> str:
    return f"{size / 1024**3:.1f} GiB"
