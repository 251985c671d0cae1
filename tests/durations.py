"""How long each test takes, in a file that is kept: ``pytest -p tests.durations``.

``python -m tests.durations [N]`` prints seconds by folder and phase, and the N slowest tests.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("durations.json")
"""Test id to the seconds of its phases; written by a run of the whole fast suite, whichever was the last."""
LEAST = 0.2
"""Seconds of a test that is kept."""
_PHASES = ("setup", "call", "teardown")


class Durations:
    """Collects the phases of all tests."""

    def __init__(self) -> None:
        self._seconds: dict[str, dict[str, float]] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Of each phase."""
        self._seconds.setdefault(report.nodeid, {})[str(report.when)] = round(report.duration, 2)

    def pytest_sessionfinish(self) -> None:
        """Write those that are long enough to be seen."""
        kept = {name: phases for name, phases in sorted(self._seconds.items()) if sum(phases.values()) >= LEAST}
        FILE.write_text(json.dumps(kept, indent=0) + "\n", encoding="utf-8")


def pytest_configure(config: pytest.Config) -> None:
    """The process that hears of all workers writes."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Durations(), "durations of tests")


def read() -> Mapping[str, Mapping[str, float]]:
    """Those of the last run that was kept."""
    found: dict[str, dict[str, float]] = json.loads(FILE.read_text(encoding="utf-8")) if FILE.exists() else {}
    return found


def page(durations: Mapping[str, Mapping[str, float]], slowest: int = 30) -> str:
    """Seconds by folder and phase, and the slowest tests."""
    folders: dict[str, defaultdict[str, float]] = {phase: defaultdict(float) for phase in _PHASES}
    for name, phases in durations.items():
        for phase, seconds in phases.items():
            folders[phase][name.split("/")[1]] += seconds
    total = {name: sum(each[name] for each in folders.values()) for name in {*folders["setup"], *folders["call"]}}
    lines = [f"{'folder':16}{'setup':>8}{'call':>8}{'teardown':>10}"]
    lines += [
        f"{name:16}{folders['setup'][name]:8.0f}{folders['call'][name]:8.0f}{folders['teardown'][name]:10.0f}"
        for name in sorted(total, key=lambda name: -total[name])
    ]
    by_test = sorted(durations.items(), key=lambda item: -sum(item[1].values()))
    return "\n".join([*lines, "", *(f"{sum(phases.values()):7.1f}  {name}" for name, phases in by_test[:slowest])])


if __name__ == "__main__":
    print(page(read(), *map(int, sys.argv[1:])))
