"""Functions of the user in random conditions."""

from __future__ import annotations

from rekindle.udf import udf


@udf
def liked(text: str | None) -> bool:
    """Whether a text is short or none at all."""
    return len(text or "") % 2 == 0
