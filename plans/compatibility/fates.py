"""What becomes of states in another plan, and the verdict that follows for the pipeline."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from plans.compatibility.find_intended_changes import RelevantChange


class Fate(StrEnum):
    """What becomes of a state."""

    KEEP = "keep"
    CONVERT = "convert"
    """Kept; its columns are found by their meaning: they have other names, are fewer, or more, which start empty."""
    EMPTY = "empty"
    """There is none yet: it starts empty, a source at its beginning."""
    DROP = "drop"
    """Nothing reads it any longer."""
    INCOMPATIBLE = "incompatible"


class Verdict(StrEnum):
    """What becomes of a pipeline."""

    FULL = "full"
    """Every state goes on, and the rows are those of a fresh run."""
    PARTIAL = "partial"
    """Something starts empty or is dropped."""
    INCOMPATIBLE = "incompatible"
    UNKNOWN = "unknown"
    """Cannot be judged."""

    @property
    def exit_code(self) -> int:
        """What a command ends with that says so, or that is not allowed to go on."""
        return {Verdict.FULL: 0, Verdict.INCOMPATIBLE: 3, Verdict.PARTIAL: 4, Verdict.UNKNOWN: 5}[self]


@dataclass(frozen=True, slots=True)
class Judgement:
    """The fate of one state."""

    uid: str
    state: str
    fate: Fate
    reason: str
    unsure: bool = False
    """Neither equal rows nor wrong ones can be proven."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """New column names to old ones, of states that go on."""
    empty: tuple[str, ...] = ()
    """Columns of a state that goes on which start empty."""
    was: str = ""
    """Name of the old state, where it is another one."""
    loss: bool = False
    """Rows will not be those of a fresh run, or something is forgotten: to be consented to."""
    taken_over: bool = False
    """The operator itself makes it of the old state, which is what it used to keep (`StateMeaning.earlier`)."""

    @property
    def goes_on(self) -> bool:
        """The state is used."""
        return self.fate in (Fate.KEEP, Fate.CONVERT)

    @property
    def title(self) -> str:
        """As people name it."""
        return f"{self.uid}:{self.state}"


@dataclass(frozen=True, slots=True)
class Comparison:
    """All fates and what follows from them."""

    judgements: tuple[Judgement, ...]
    notes: tuple[str, ...] = ()
    """What is to be known of sources and sinks; of these, `place_losses` alone decide about the verdict."""

    intended_changes: tuple[RelevantChange, ...] = ()
    """What this engine gives otherwise than the one that ran the old plan; no verdict depends on it."""

    place_losses: tuple[str, ...] = ()
    """Notes by which rows are counted twice or are missing, as a table lies elsewhere now: to be consented to."""

    unmakeable: frozenset[str] = frozenset()
    """Uids of operators above sources that cannot be read once more."""

    @property
    def remarks(self) -> tuple[str, ...]:
        """Notes and intended changes as sentences."""
        return (*self.notes, *map(str, self.intended_changes))

    @property
    def verdict(self) -> Verdict:
        """Never better than what can be proven."""
        if any(each.fate is Fate.INCOMPATIBLE and not each.unsure for each in self.judgements):
            return Verdict.INCOMPATIBLE
        if any(each.unsure for each in self.judgements):
            return Verdict.UNKNOWN
        return Verdict.PARTIAL if self.losses or self.place_losses else Verdict.FULL

    @property
    def losses(self) -> tuple[Judgement, ...]:
        """What must be consented to."""
        return tuple(each for each in self.judgements if each.loss)
