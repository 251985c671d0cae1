"""Writes the table of docs/query-evolution.md from the tests' matrix: ``python -m docs.evolution_table``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from docs.markers import between_markers
from tests.evolution.matrix import CHANGES

PAGE = Path(__file__).with_name("query-evolution.md")


def render() -> str:
    """The table."""
    return "".join(_lines())


def _lines() -> Iterator[str]:
    yield "| Change | Verdict | What becomes of positions and states |\n|---|---|---|\n"
    for change in CHANGES:
        fates = Counter(change.fates)
        counted = (f"{each}{f' (×{times})' if times > 1 else ''}" for each, times in fates.items())
        yield f"| {change.name} | {change.verdict} | {', '.join(counted)} |\n"


def inserted(page: str) -> str:
    """The page with the table between the markers; ValueError if it has none."""
    return between_markers(page, "changes", render())


if __name__ == "__main__":
    PAGE.write_text(inserted(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
