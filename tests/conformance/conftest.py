"""Reports conformance by area when all tests have run."""

from __future__ import annotations

import re
from collections import Counter

import pytest

_PROGRAM = re.compile(r"test_conformance\.py::test_program\[([^/]+)/")
_WORDS = {"passed": "passed", "failed": "failed", "skipped": "unsupported", "xfailed": "known to differ"}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = Counter[tuple[str, str]]()
    for outcome in _WORDS:
        for report in terminalreporter.stats.get(outcome, []):
            found = _PROGRAM.search(report.nodeid)
            if found:
                counts[found[1], outcome] += 1
    if not counts:
        return
    terminalreporter.section("conformance with Flink by area")
    for area in sorted({area for area, _ in counts}):
        parts = [f"{counts[area, outcome]} {word}" for outcome, word in _WORDS.items() if counts[area, outcome]]
        terminalreporter.write_line(f"{area}: {', '.join(parts)}")
