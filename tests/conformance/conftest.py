"""Reports conformance by area when all tests have run."""

from __future__ import annotations

from collections import Counter

import pytest

_WORDS = {"passed": "passed", "failed": "failed", "skipped": "unsupported", "xfailed": "known to differ"}


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts = Counter[tuple[str, str]]()
    for outcome in _WORDS:
        for report in terminalreporter.stats.get(outcome, []):
            programs = dict(report.user_properties).get("programs", ())
            for name in programs if report.when == "call" else ():
                counts[name.partition("/")[0], outcome] += 1
    if not counts:
        return
    terminalreporter.section("conformance with Flink by area")
    for area in sorted({area for area, _ in counts}):
        parts = [f"{counts[area, outcome]} {word}" for outcome, word in _WORDS.items() if counts[area, outcome]]
        terminalreporter.write_line(f"{area}: {', '.join(parts)}")
