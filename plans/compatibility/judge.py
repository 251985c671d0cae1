"""One state against another: does it go on, and which of its columns are which."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from execnodes.core.meaning import AT_MOST, NOTHING, StateColumn, StateMeaning, call_of
from execnodes.terms.changes import told
from execnodes.terms.shown import shown
from execnodes.terms.term import Term, below
from plans.compatibility.accumulators import evolve
from plans.compatibility.canonical import same
from plans.compatibility.carried import carried
from plans.compatibility.fates import Fate, Judgement
from plans.compatibility.plan_meanings import POSITION
from plans.compatibility.widened_states import goes_into, lost_of_parts, matched, widened

SAME_MEANING = "same meaning"
"""Why a state goes on as it is."""


def by_time(state: StateMeaning) -> bool:
    """Whether a state of a plan goes by the watermark, as its parts then say."""
    times = state.times - {NOTHING}
    return bool(times) and any(each in times for part in state.parts.values() for each in below(part, lambda _: True))


def judge(old: StateMeaning, new: StateMeaning) -> Judgement:
    """What would become of `old` if it were to go on as `new`; uids play no part."""
    if old.unknown or new.unknown:
        reason = f"what it means cannot be told: {new.unknown or old.unknown}"
        return Judgement(new.uid, new.name, Fate.INCOMPATIBLE, reason, unsure=True)
    found = _as_it_is(old, new)
    if found.goes_on:
        return found
    earlier = (judge(old, each) for each in new.earlier if each.name == old.name)
    return next((_taken_over(each, old, new) for each in earlier if each.goes_on), found)


def _as_it_is(old: StateMeaning, new: StateMeaning) -> Judgement:
    evolved = evolve(old, new)
    old = evolved.state
    columns, missing = matched(old.columns, new.columns)
    if evolved.problems:
        # What their columns lack follows from what the snapshots say.
        missing = [each for each in missing if call_of(each.meaning).text not in new.serializers]
    known: set[str] = set()
    reasons = [*_changes(old, new, known), *evolved.problems]
    empty = _may_be_empty(new, missing, columns)
    if not empty:
        for each in missing:
            reasons += _missing(each, _instead(each, old.columns, new.columns), known)
    if old.bucketed != new.bucketed:
        reasons.append("the layout of its buckets has changed")
    if reasons:
        return Judgement(new.uid, new.name, Fate.INCOMPATIBLE, "; ".join(reasons), unsure=evolved.unsure)
    wider = widened(old, new, columns)
    renamed = [f"{theirs} as {mine}" for mine, theirs in columns.items() if mine != theirs]
    gone = [each.name for each in old.columns if each.name not in columns.values()]
    notes = [f"it was called {old.name}"] if old.name != new.name else []
    notes += [f"columns are found by their meaning: {', '.join(renamed)}"] if renamed else []
    notes += [f"columns that nothing reads any longer go: {', '.join(gone)}"] if gone else []
    notes += [f"accumulator of {each.title}: {each.reason}" for each in evolved.changes]
    if empty:
        notes += [f"{_new(each)}, so it starts empty" for each in missing]
    fewer = [label for label, part in new.parts.items() if _keeps_fewer(old.parts.get(label), part)]
    notes += [f"it keeps fewer rows: {label} {old.parts[label]} -> {new.parts[label]}" for label in fewer]
    losses = sorted(wider.losses | lost_of_parts(old, new))
    notes += [*wider.notes, *losses]
    fate = Fate.CONVERT if len(notes) > len(wider.alike) else Fate.KEEP
    aged = old.ttl_ms != new.ttl_ms
    if aged:
        notes.append(
            f"the TTL was {old.ttl_ms} ms and is {new.ttl_ms} ms: what has expired, or would have, depends on the clock"
        )
    was = old.name if old.name != new.name else ""
    reason = "; ".join(notes) or SAME_MEANING
    return Judgement(new.uid, new.name, fate, reason, aged, columns, tuple(empty), was, bool(empty or losses))


def differences(old: StateMeaning, new: StateMeaning) -> str:
    """What `old` meant that `new` does not, for people; of another operator's state only that it is one."""
    if old.name != new.name:
        return f"it was {old.name} and is {new.name}"
    return judge(old, new).reason


def _taken_over(found: Judgement, old: StateMeaning, new: StateMeaning) -> Judgement:
    """What is said of an earlier layout, as the fate of the state that the operator makes of it."""
    was = old.name if old.name != new.name else ""
    reason = f"the operator makes it of {was}, which it used to keep" if was else "the operator takes what it needs"
    more = f"; {found.reason}" if found.fate is Fate.CONVERT or found.unsure else ""
    return replace(found, state=new.name, fate=Fate.CONVERT, reason=reason + more, was=was, taken_over=True)


def _changes(old: StateMeaning, new: StateMeaning, known: set[str]) -> list[str]:
    labels = [*old.parts, *(label for label in new.parts if label not in old.parts)]
    # Options of a table that one of the plans does not hold cannot be compared; restoring asks the catalog.
    if new.name == POSITION:
        labels = [label for label in old.parts if label in new.parts]
    labels.sort(key=lambda each: each != "key")
    pairs = [(label, old.parts.get(label), new.parts.get(label)) for label in labels]
    return [
        each for label, was, now in pairs if not _keeps_fewer(was, now) for each in _changed(label, was, now, known)
    ]


def _keeps_fewer(old: Term | None, new: Term | None) -> bool:
    """Whether both are how many of the best rows are kept, and all of the new ones are among the old ones."""
    return old is not None and new is not None and {old.kind, new.kind} == {AT_MOST} and int(new.says) < int(old.says)


def _may_be_empty(new: StateMeaning, missing: Sequence[StateColumn], found: dict[str, str]) -> list[str]:
    """Names of the missing columns, if all of them may begin later and some other one of their kind goes on."""
    addable = new.addable or frozenset()
    names = [each.name for each in missing]
    return names if addable >= set(names) and addable & set(found) else []


def _instead(column: StateColumn, old: Sequence[StateColumn], new: Sequence[StateColumn]) -> StateColumn | None:
    """The old column in its place, unless that one is wanted elsewhere."""
    at = new.index(column)
    there = old[at] if at < len(old) else None
    wanted = there is not None and any(goes_into(there, each) is not None for each in new)
    return None if wanted else there


def _missing(column: StateColumn, instead: StateColumn | None, known: set[str]) -> list[str]:
    if instead is None:
        return [_new(column)]
    if same(instead.meaning, column.meaning):
        return [f"column {column.name}: {shown(column.meaning)} was {instead.type} and is {column.type}"]
    return told(f"column {column.name}", instead.meaning, column.meaning, known)


def _new(column: StateColumn) -> str:
    return f"column {column.name}: {shown(column.meaning)} ({column.type}) is new; nothing in the state tells it"


def _changed(label: str, old: Term | None, new: Term | None, known: set[str]) -> list[str]:
    goes_on = old is not None and new is not None and carried(old, new) is not None
    return [] if goes_on else told(label, old, new, known)
