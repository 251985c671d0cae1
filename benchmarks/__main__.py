"""Runs all benchmarks, or those named, and prints their figures: ``python -m benchmarks [aggregate join …]``."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import benchmarks
from benchmarks.common import machine

HELPERS = ("common", "__main__", "flink_side", "engine_work")
LONG = ("soak",)
"""Those that run only where they are named."""


def main(wanted: list[str]) -> None:
    names = [info.name for info in pkgutil.iter_modules(benchmarks.__path__) if info.name not in HELPERS]
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(names)}")
    chosen = wanted or [name for name in names if name not in LONG]
    if len(chosen) > 1:
        # In a process each: what one leaves in the JVM, compiled code and garbage, changes the figures of the next.
        failed = [name for name in chosen if subprocess.run([sys.executable, "-m", "benchmarks", name]).returncode]
        sys.exit(f"failed: {', '.join(failed)}" if failed else 0)
    print(machine())
    for figure, value in importlib.import_module(f"benchmarks.{chosen[0]}").figures().items():
        print(f"{chosen[0]}: {figure}: {value:.2f}", flush=True)


main(sys.argv[1:])
