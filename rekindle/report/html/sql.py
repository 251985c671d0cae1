"""Two texts side by side: lines that are the same stand beside each other, and what differs in a line is marked."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from rekindle.report.html.element import Markup, element, joined

_ALIKE = 0.4
"""Share of equal words from which on the words of two lines are compared."""


def side_by_side(old: str, new: str) -> Markup:
    """A table of lines: number, sign and text of each side."""
    before, after = old.splitlines(), new.splitlines()
    rows = [_row(*each) for each in _pairs(before, after)]
    head = element("tr", *(element("th", name, colspan=3, scope="colgroup") for name in ("before", "after")))
    columns = element("colgroup", [element("col", class_=name) for name in ("number", "change", "code") * 2])
    return element("table", columns, element("thead", head), element("tbody", rows), class_="sides")


Side = tuple[int, str] | None
"""Number and text of a line."""


def _pairs(before: list[str], after: list[str]) -> Iterator[tuple[Side, Side, bool]]:
    """Lines beside each other, and whether they are the same."""
    for what, start, stop, other, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        for at in range(max(stop - start, end - other)):
            left = (start + at + 1, before[start + at]) if start + at < stop else None
            right = (other + at + 1, after[other + at]) if other + at < end else None
            yield left, right, what == "equal"


def _row(left: Side, right: Side, same: bool) -> Markup:
    if same or left is None or right is None:
        texts = [side[1] if side else "" for side in (left, right)]
    else:
        texts = list(_marked(left[1], right[1]))
    signs = (" ", " ") if same else ("-" if left else " ", "+" if right else " ")
    return element("tr", _cells(left, texts[0], signs[0], "old"), _cells(right, texts[1], signs[1], "new"))


def _cells(side: Side, text: str, sign: str, name: str) -> Markup:
    style = f"{name} differs" if sign != " " else (name if side else f"{name} none")
    return joined(
        element("td", str(side[0]) if side else "", class_=f"number {style}"),
        element("td", sign, class_=f"change {style}"),
        element("td", text, class_=f"code {style}"),
    )


def _marked(old: str, new: str) -> tuple[Markup, Markup]:
    """Both lines, with the words that differ in <del> and <ins>."""
    before, after = (re.findall(r"\w+|\s+|[^\w\s]", text) for text in (old, new))
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    if matcher.ratio() < _ALIKE:
        return element("del", old), element("ins", new)
    left, right = [], []
    for what, start, stop, other, end in matcher.get_opcodes():
        one, two = "".join(before[start:stop]), "".join(after[other:end])
        left.append(element("del", one) if one and what != "equal" else joined(one))
        right.append(element("ins", two) if two and what != "equal" else joined(two))
    return joined(left), joined(right)
