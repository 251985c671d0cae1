"""Fates, verdicts and standings as pills: a sign and a word, and a colour for those who see it."""

from __future__ import annotations

from plans.compare import Fate, Verdict
from plans.diff import Standing
from rekindle.report.html.element import Markup, element
from rekindle.report.signs import FATES, STANDINGS, VERDICTS

TONES: dict[str, str] = {
    Fate.KEEP: "good", Fate.CONVERT: "good", Fate.EMPTY: "warn", Fate.DROP: "warn", Fate.INCOMPATIBLE: "bad",
    Verdict.FULL: "good", Verdict.PARTIAL: "warn", Verdict.UNKNOWN: "odd",
    Standing.SAME: "plain", Standing.CHANGED: "warn", Standing.REPLACED: "warn", Standing.ADDED: "good",
    Standing.REMOVED: "bad",
}  # fmt: skip
"""Class of a word; the words of the three lists do not clash."""


def fate_pill(fate: Fate, *, unsure: bool = False) -> Markup:
    """``✓ keep``."""
    return pill(FATES[fate], f"{fate}, unsure" if unsure else str(fate), "odd" if unsure else TONES[fate])


def standing_pill(standing: Standing) -> Markup:
    """``+ added``."""
    return pill(STANDINGS[standing], str(standing), TONES[standing])


def verdict_sign(verdict: Verdict) -> Markup:
    """The large sign of a banner."""
    return element("span", VERDICTS[verdict], class_="sign", aria_hidden="true")


def pill(sign: str, word: str, tone: str) -> Markup:
    """Any other."""
    mark = element("span", sign, aria_hidden="true")
    return element("span", mark, " ", word, class_=f"pill {tone}")
