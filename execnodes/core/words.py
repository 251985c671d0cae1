"""Words for people."""

from __future__ import annotations


def counted(number: int, noun: str, several: str | None = None) -> str:
    """``1 row``, ``2,000 rows``; `several` where the plural has no s of its own."""
    return f"{number:,} {noun if number == 1 else several or f'{noun}s'}"
