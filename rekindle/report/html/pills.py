"""Fates, verdicts and standings as pills: a sign and a word, and a colour for those who see it."""

from __future__ import annotations

from plans.compatibility.compare import Judgement, Verdict
from plans.evolution.diff import Standing
from rekindle.report.html.element import Markup, element
from rekindle.report.signs import FATES, STANDINGS, VERDICTS, fate_words, tone

TONES: dict[str, str] = {
    Verdict.FULL: "good", Verdict.PARTIAL: "warn", Verdict.INCOMPATIBLE: "bad", Verdict.UNKNOWN: "odd",
    Standing.SAME: "plain", Standing.CHANGED: "warn", Standing.REPLACED: "warn", Standing.ADDED: "good",
    Standing.REMOVED: "bad",
}  # fmt: skip
"""Class of a verdict or standing; no word is both."""


def fate_pill(judgement: Judgement) -> Markup:
    """``✓ keep``."""
    return pill(FATES[judgement.fate], fate_words(judgement), tone(judgement))


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
