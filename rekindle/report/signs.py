"""How fates, verdicts and differences are shown: a sign and a colour beside each word, never instead of it."""

from __future__ import annotations

from plans.compatibility.compare import Fate, Judgement, Verdict
from plans.evolution.diff import Standing

FATES = {Fate.KEEP: "✓", Fate.CONVERT: "⇄", Fate.EMPTY: "○", Fate.DROP: "✕", Fate.INCOMPATIBLE: "⊘"}
VERDICTS = {Verdict.FULL: "✓", Verdict.PARTIAL: "◐", Verdict.INCOMPATIBLE: "⊘", Verdict.UNKNOWN: "?"}
STANDINGS = {
    Standing.SAME: "=", Standing.CHANGED: "~", Standing.REPLACED: "≠", Standing.ADDED: "+", Standing.REMOVED: "-",
}  # fmt: skip
STANDING_COLOURS = {
    Standing.SAME: "default", Standing.CHANGED: "yellow", Standing.REPLACED: "yellow", Standing.ADDED: "green",
    Standing.REMOVED: "red",
}  # fmt: skip


def fate_words(judgement: Judgement) -> str:
    """The fate, and what is to be known of a state that goes on."""
    notes = [", unsure"] if judgement.unsure else []
    notes += [", with loss"] if judgement.loss and judgement.goes_on else []
    return str(judgement.fate) + "".join(notes)


def tone(judgement: Judgement) -> str:
    """``good``, ``warn`` (something is lost), ``bad``, or ``odd`` (cannot be judged)."""
    if judgement.unsure:
        return "odd"
    if judgement.fate is Fate.INCOMPATIBLE:
        return "bad"
    return "warn" if judgement.loss else "good"
