"""Writes `durations.md`: where the time of the tests goes."""

from __future__ import annotations

from pathlib import Path

from tests.durations import LEAST, page, read

PAGE = Path(__file__).with_name("durations.md")


def text() -> str:
    """The page."""
    durations = read()
    spent = sum(sum(phases.values()) for phases in durations.values())
    return (
        "# Where the time of the tests goes\n\n"
        f"Seconds of both processes of `make test-durations`, by folder and phase, then the slowest tests: "
        f"{spent:,.0f} s in all, of {len(durations):,} tests that take {LEAST} s or more.\n\n"
        f"```\n{page(durations)}\n```\n"
    )


def main() -> None:
    """Write it."""
    PAGE.write_text(text(), encoding="utf-8")


if __name__ == "__main__":
    main()
