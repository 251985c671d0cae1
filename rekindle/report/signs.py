"""How fates, verdicts and differences are shown: a sign and a colour beside each word, never instead of it."""

from __future__ import annotations

from plans.compare import Fate, Verdict
from plans.diff import Standing

FATES = {Fate.KEEP: "✓", Fate.CONVERT: "⇄", Fate.EMPTY: "○", Fate.DROP: "✕", Fate.INCOMPATIBLE: "⊘"}
VERDICTS = {Verdict.FULL: "✓", Verdict.PARTIAL: "◐", Verdict.INCOMPATIBLE: "⊘", Verdict.UNKNOWN: "?"}
STANDINGS = {
    Standing.SAME: "=", Standing.CHANGED: "~", Standing.REPLACED: "≠", Standing.ADDED: "+", Standing.REMOVED: "-",
}  # fmt: skip
FATE_COLOURS = {
    Fate.KEEP: "green", Fate.CONVERT: "green", Fate.EMPTY: "yellow", Fate.DROP: "yellow", Fate.INCOMPATIBLE: "red",
}  # fmt: skip
STANDING_COLOURS = {
    Standing.SAME: "default", Standing.CHANGED: "yellow", Standing.REPLACED: "yellow", Standing.ADDED: "green",
    Standing.REMOVED: "red",
}  # fmt: skip
