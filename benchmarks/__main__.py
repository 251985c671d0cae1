"""Runs all benchmarks, or those named, and prints their figures: ``python -m benchmarks [aggregate join …]``."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks.common import machine

HELPERS = ("common", "__main__")


def main(wanted: list[str]) -> None:
    names = [info.name for info in pkgutil.iter_modules(benchmarks.__path__) if info.name not in HELPERS]
    unknown = sorted(set(wanted) - set(names))
    if unknown:
        sys.exit(f"no benchmark {', '.join(unknown)}; there are {', '.join(names)}")
    print(machine())
    for name in wanted or names:
        for figure, value in importlib.import_module(f"benchmarks.{name}").figures().items():
            print(f"{name}: {figure}: {value:.2f}", flush=True)


main(sys.argv[1:])
