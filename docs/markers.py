"""Puts what is generated between the markers of a page."""

from __future__ import annotations


def between_markers(page: str, what: str, text: str) -> str:
    """The page with `text` between ``<!-- what: begin -->`` and ``<!-- what: end -->``; ValueError if it has none."""
    begin, end = f"<!-- {what}: begin -->\n", f"<!-- {what}: end -->\n"
    before, _, rest = page.partition(begin)
    _, found, after = rest.partition(end)
    if not found:
        raise ValueError(f"the page has no markers {begin.strip()} … {end.strip()}")
    return f"{before}{begin}{text}{end}{after}"
