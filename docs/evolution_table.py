"""Writes the tables of docs/query-evolution.md from the tests' matrices: ``python -m docs.evolution_table``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from docs.markers import between_markers
from tests.evolution.matrix import CHANGES
from tests.evolution.widenings import NARROWER, ROLES, WIDER, expected

PAGE = Path(__file__).with_name("query-evolution.md")


def render() -> str:
    """The table of changed queries."""
    return "".join(_lines())


def render_types() -> str:
    """The table of types that become wider, and those that do not."""
    return "".join(_types())


def _lines() -> Iterator[str]:
    yield "| Change | Verdict | What becomes of positions and states |\n|---|---|---|\n"
    for change in CHANGES:
        fates = Counter(change.fates)
        counted = (f"{each}{f' (×{times})' if times > 1 else ''}" for each, times in fates.items())
        yield f"| {change.name} | {change.verdict} | {', '.join(counted)} |\n"


def _types() -> Iterator[str]:
    yield "| Change | Verdict | But |\n|---|---|---|\n"
    for pair in WIDER:
        found = {role.name: expected(pair, role) for role in ROLES if role.fits(pair)}
        usual = Counter(found.values()).most_common(1)[0][0]
        others = [name for name, verdict in found.items() if verdict != usual]
        but = f"{found[others[0]]}: {', '.join(others)}" if others else ""
        yield f"| `{pair.old}` → `{pair.new}` | {usual} | {but} |\n"
    narrower = ", ".join(f"`{old}` → `{new}`" for old, new in NARROWER)
    yield f"\nNot wider, so that state that holds the column does not go on: {narrower}.\n"


def inserted(page: str) -> str:
    """The page with the tables between their markers; ValueError if it has none."""
    return between_markers(between_markers(page, "changes", render()), "types", render_types())


if __name__ == "__main__":
    PAGE.write_text(inserted(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
