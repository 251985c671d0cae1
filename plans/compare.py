"""May the state of one plan go on in another? Decided by what it means, before anything runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from execnodes.core.meaning import StateColumn, StateMeaning, readable
from plans.meaning import POSITION


class Fate(StrEnum):
    """What becomes of a state."""

    KEEP = "keep"
    CONVERT = "convert"
    """Kept; its columns are found by their meaning, since they have other names or are fewer."""
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

    @property
    def goes_on(self) -> bool:
        """The state is used."""
        return self.fate in (Fate.KEEP, Fate.CONVERT)


@dataclass(frozen=True, slots=True)
class Comparison:
    """All fates and what follows from them."""

    judgements: tuple[Judgement, ...]

    @property
    def verdict(self) -> Verdict:
        """Never better than what can be proven."""
        fates = {each.fate for each in self.judgements if not each.unsure}
        if Fate.INCOMPATIBLE in fates:
            return Verdict.INCOMPATIBLE
        if any(each.unsure for each in self.judgements):
            return Verdict.UNKNOWN
        return Verdict.PARTIAL if fates & {Fate.EMPTY, Fate.DROP} else Verdict.FULL


def compare(old: Sequence[StateMeaning], new: Sequence[StateMeaning]) -> Comparison:
    """Match states by uid and name; those of the new plan come first, in its order."""
    before = {(each.uid, each.name): each for each in old}
    after = {(each.uid, each.name): each for each in new}
    found = [judge(before[address], each) if address in before else _empty(each) for address, each in after.items()]
    found += [_drop(each) for address, each in before.items() if address not in after]
    return Comparison(tuple(_with_moves(_together(found, after), before, after)))


def judge(old: StateMeaning, new: StateMeaning) -> Judgement:
    """A state that both plans have."""
    if old.unknown or new.unknown:
        reason = f"what it means cannot be told: {new.unknown or old.unknown}"
        return Judgement(new.uid, new.name, Fate.INCOMPATIBLE, reason, unsure=True)
    columns, problems = _columns(old.columns, new.columns)
    labels = [*old.parts, *(label for label in new.parts if label not in old.parts)]
    changed = [_changed(label, old.parts.get(label, ""), new.parts.get(label, "")) for label in labels]
    # Options of a table that one of the plans does not hold cannot be compared; restoring asks the catalog.
    if new.name == POSITION:
        changed = [_changed(label, text, new.parts[label]) for label, text in old.parts.items() if label in new.parts]
    reasons = [each for each in changed if each] + problems
    if old.bucketed != new.bucketed:
        reasons.append("the layout of its buckets has changed")
    if reasons:
        return Judgement(new.uid, new.name, Fate.INCOMPATIBLE, "; ".join(reasons))
    notes = []
    renamed = [f"{theirs} as {mine}" for mine, theirs in columns.items() if mine != theirs]
    gone = [each.name for each in old.columns if each.name not in columns.values()]
    notes += [f"columns are found by their meaning: {', '.join(renamed)}"] if renamed else []
    notes += [f"columns that nothing reads any longer go: {', '.join(gone)}"] if gone else []
    fate = Fate.CONVERT if notes else Fate.KEEP
    aged = old.ttl_ms != new.ttl_ms
    if aged:
        notes.append(
            f"the TTL was {old.ttl_ms} ms and is {new.ttl_ms} ms: what has expired, or would have, depends on the clock"
        )
    return Judgement(new.uid, new.name, fate, "; ".join(notes) or "same meaning", aged, columns)


def _columns(old: Sequence[StateColumn], new: Sequence[StateColumn]) -> tuple[dict[str, str], list[str]]:
    """New names to old ones by meaning and type, and what is missing."""
    free = list(old)
    found: dict[str, str] = {}
    problems = []
    for at, column in enumerate(new):
        fitting = [each for each in old if (each.meaning, each.type) == (column.meaning, column.type)]
        same = [each for each in fitting if each.name == column.name] or fitting
        if same:
            found[column.name] = same[0].name
            free = [each for each in free if each.name != same[0].name]
        else:
            there = old[at] if at < len(old) and not _wanted(old[at], new) else None
            problems.append(_missing(column, there))
    return found, problems


def _wanted(column: StateColumn, by: Sequence[StateColumn]) -> bool:
    return any((each.meaning, each.type) == (column.meaning, column.type) for each in by)


def _missing(column: StateColumn, instead: StateColumn | None) -> str:
    now = f"{readable(column.meaning)} ({column.type})"
    if instead is None:
        return f"column {column.name}: {now} is new; nothing in the state tells it"
    if instead.meaning == column.meaning:
        return f"column {column.name}: {readable(column.meaning)} was {instead.type} and is {column.type}"
    return f"column {column.name}: {_arrow(instead.meaning, column.meaning)}"


def _changed(label: str, old: str, new: str) -> str:
    return "" if old == new else f"{label}: {_arrow(old, new)}"


def _arrow(old: str, new: str) -> str:
    pair = [readable(old), readable(new)]
    one, other = pair if pair[0] != pair[1] else (old, new)
    return f"{one or 'nothing'} -> {other or 'nothing'}"


def _empty(new: StateMeaning) -> Judgement:
    what = "the source starts at its beginning" if new.name == POSITION else "it starts empty"
    return Judgement(new.uid, new.name, Fate.EMPTY, f"the old plan has no such state; {what}")


def _drop(old: StateMeaning) -> Judgement:
    return Judgement(old.uid, old.name, Fate.DROP, "the new plan has no such state")


def _together(found: Sequence[Judgement], after: Mapping[tuple[str, str], StateMeaning]) -> Iterator[Judgement]:
    """A state cannot go on without the others of its operator, nor without the positions of the sources below it."""
    by_address = {(each.uid, each.state): each for each in found}
    for each in found:
        meaning = after.get((each.uid, each.state))
        if meaning is None or each.state == POSITION:
            yield each
            continue
        siblings = [by_address[address] for address in after if address[0] == each.uid]
        lost = [uid for uid in sorted(meaning.sources) if not by_address[uid, POSITION].goes_on]
        if each.goes_on and lost:
            reason = f"the state has seen rows of {', '.join(lost)}, which does not go on where it was"
            yield replace(each, fate=Fate.INCOMPATIBLE, reason=reason, columns={})
        elif each.fate is Fate.EMPTY and any(other.goes_on for other in siblings):
            kept = ", ".join(other.state for other in siblings if other.goes_on)
            reason = f"the old plan has no such state, and the operator cannot go on with {kept} alone"
            yield replace(each, fate=Fate.INCOMPATIBLE, reason=reason)
        else:
            yield each


def _with_moves(
    found: Iterator[Judgement],
    before: Mapping[tuple[str, str], StateMeaning],
    after: Mapping[tuple[str, str], StateMeaning],
) -> Iterator[Judgement]:
    """Say where a state that seems new has been under another uid."""
    gone = [each for address, each in before.items() if address not in after]
    for judgement in found:
        new = after.get((judgement.uid, judgement.state))
        if new is None or judgement.fate is not Fate.EMPTY:
            yield judgement
            continue
        same = next((each for each in gone if each.name == new.name and judge(each, new).goes_on), None)
        if same is None:
            yield judgement
            continue
        advice = (
            f"{same.title} of the old plan means the same: compile the new plan from the old one "
            "(COMPILE PLAN … FROM … FOR …), so that the operator keeps its uid"
        )
        yield replace(judgement, reason=f"{judgement.reason}. {advice}")
