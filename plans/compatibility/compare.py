"""May the state of one plan go on in another? Decided by what it means, before anything runs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from execnodes.core.meaning import StateMeaning, call_of
from execnodes.terms.term import Term
from plans.compatibility.counterparts import Address, counterparts
from plans.compatibility.fates import Comparison, Fate, Judgement, Verdict
from plans.compatibility.judge import SAME_MEANING, by_time, differences, judge
from plans.compatibility.plan_meanings import POSITION, Meanings, meanings

__all__ = ["Comparison", "Fate", "Judgement", "Verdict", "compare", "judge"]

MOVED = "of the old plan means the same"


def compare(old: Sequence[StateMeaning], new: Sequence[StateMeaning], *, compiling: bool = False) -> Comparison:
    """Match states by uid and name; those of the new plan come first, in its order.

    Where both come from `plans.compatibility.plan_meanings.meanings`, inputs of a UNION ALL may have come and gone: a
    source that is new is read from its beginning, so that what its rows do to a state is still to come.
    `compiling`: the new plan is being compiled from the old one, so that nobody need be told to do that.
    """
    return _Matching(old, new).comparison(compiling=compiling)


@dataclass(frozen=True, slots=True)
class _Match:
    """A judgement, the meaning in the new plan that it was made by, and the old state that goes on."""

    judgement: Judgement
    meaning: StateMeaning
    old: Address | None = None


class _Matching:
    def __init__(self, old: Sequence[StateMeaning], new: Sequence[StateMeaning]) -> None:
        self.before, self.after = _addressed(old), _addressed(new)
        self._graph = old.graph if isinstance(old, Meanings) else None
        added = frozenset(uid for uid, name in self.after if name == POSITION and not self._begun(uid))
        removed = frozenset(uid for uid, name in self.before if name == POSITION and (uid, name) not in self.after)
        self.before_less, self.after_less = _less(old, removed), _less(new, added)
        self.added, self.removed = ", ".join(sorted(added)), ", ".join(sorted(removed))

    def comparison(self, *, compiling: bool) -> Comparison:
        matches = [self._match(each) for each in self.after.values()]
        claimed: set[Address | None] = {each.old for each in matches}
        dropped = [
            each for address, each in self.before.items() if address not in claimed and address not in self.after
        ]
        settled = _Together(matches).settled()
        found = [*settled, *map(_drop, dropped)]
        judgements = found if compiling else _with_moves(found, dropped, self.after)
        return _explained(Comparison(tuple(judgements)), self.before, self.after)

    def _begun(self, uid: str) -> bool:
        """Whether rows of a source may have been seen: not if only states that were made beside others know of it."""
        before = self.before.get((uid, POSITION))
        if before is None or before.begun or self._graph is None:
            return before is not None
        return any(each.uid == uid and each.name == POSITION for each in meanings(self._graph))

    def _match(self, new: StateMeaning) -> _Match:
        address = (new.uid, new.name)
        if address in self.before:
            return self._goes_on(address, new)
        for other in self.before:
            if other[0] == new.uid and other not in self.after and POSITION not in (other[1], new.name):
                found = self._goes_on(other, new)
                if found.judgement.goes_on:
                    return found
        return _Match(_empty(new), new)

    def _goes_on(self, address: Address, new: StateMeaning) -> _Match:
        first = _Match(judge(self.before[address], new), new, address)
        if first.judgement.goes_on or first.judgement.unsure or new.name == POSITION:
            return first
        return next((each for each in self._without_unions(address, new) if each.judgement.goes_on), first)

    def _without_unions(self, address: Address, new: StateMeaning) -> Iterator[_Match]:
        old, old_less = self.before[address], self.before_less.get(address)
        new_less = self.after_less.get((new.uid, new.name))
        if new_less is not None and not _by_another_time(new, new_less):
            yield _noted(_Match(judge(old, new_less), new_less, address), [self._more()])
        if old_less is not None:
            yield _noted(_Match(judge(old_less, new), new, address), [self._stay()], loss=True)
        if old_less is not None and new_less is not None and not _by_another_time(new, new_less):
            found = _Match(judge(old_less, new_less), new_less, address)
            yield _noted(found, [self._more(), self._stay()], loss=True)

    def _more(self) -> str:
        return f"{self.added} is new and read from its beginning, so that all of its rows are still to come"

    def _stay(self) -> str:
        return f"what rows of {self.removed}, which is gone, have done to it stays"


def _explained(
    comparison: Comparison, before: Mapping[Address, StateMeaning], after: Mapping[Address, StateMeaning]
) -> Comparison:
    """With what has changed where a new state takes the place of one that means something else."""
    places = counterparts(comparison, tuple(before.values()), tuple(after.values()))

    def explained(each: Judgement) -> Judgement:
        address = (each.uid, each.state)
        if address not in places or MOVED in each.reason:
            return each
        old, new = before[places[address]], after[address]
        change = differences(old, new)
        told = ", which means the same" if change == SAME_MEANING else f": {change}"
        return replace(each, reason=f"{each.reason}; it takes the place of {old.title}{told}")

    return replace(comparison, judgements=tuple(map(explained, comparison.judgements)))


def _addressed(states: Iterable[StateMeaning]) -> dict[Address, StateMeaning]:
    return {(each.uid, each.name): each for each in states}


def _less(states: Sequence[StateMeaning], sources: frozenset[str]) -> dict[Address, StateMeaning]:
    """What the states would mean without some of the sources."""
    graph = states.graph if isinstance(states, Meanings) else None
    return _addressed(meanings(graph, sources)) if graph is not None and sources else {}


def _by_another_time(whole: StateMeaning, less: StateMeaning) -> bool:
    """A source that has only begun would have held back the watermark."""
    return whole.times != less.times and by_time(less)


def _noted(match: _Match, notes: Sequence[str], *, loss: bool = False) -> _Match:
    judgement = match.judgement
    if not judgement.goes_on:
        return match
    same = judgement.fate is Fate.KEEP and not judgement.unsure
    reason = "; ".join([*([] if same else [judgement.reason]), *notes])
    return replace(match, judgement=replace(judgement, reason=reason, loss=judgement.loss or loss))


def _empty(new: StateMeaning) -> Judgement:
    if new.name == POSITION:
        reason = "the old plan has no such state; the source starts at its beginning"
        return Judgement(new.uid, new.name, Fate.EMPTY, reason)
    return Judgement(new.uid, new.name, Fate.EMPTY, "the old plan has no such state; it starts empty", loss=True)


def _drop(old: StateMeaning) -> Judgement:
    return Judgement(old.uid, old.name, Fate.DROP, "the new plan has no such state", loss=True)


class _Together:
    """What states must have in common with those of their operator, and with what is below it."""

    def __init__(self, matches: Sequence[_Match]) -> None:
        self._matches = matches
        self._found: dict[Address, Judgement] = {
            (each.meaning.uid, each.meaning.name): each.judgement for each in matches
        }

    def settled(self) -> list[Judgement]:
        """The judgements, inputs first, so that what is found of one counts for those above it."""
        operators: dict[str, list[_Match]] = {}
        for match in self._matches:
            if match.meaning.name != POSITION:
                operators.setdefault(match.meaning.uid, []).append(match)
        for matches in operators.values():
            for step in (self._with_below, self._with_siblings):
                self._found |= {(each.meaning.uid, each.meaning.name): step(each) for each in matches}
        return list(self._found.values())

    def _with_below(self, match: _Match) -> Judgement:
        judgement, meaning = match.judgement, match.meaning
        if judgement.goes_on:
            lost = [uid for uid in sorted(meaning.sources | meaning.operators) if not self._goes_on(uid)]
            if not lost:
                return judgement
            reason = f"the state has seen rows of {', '.join(lost)}, which does not go on where it was"
            return replace(judgement, fate=Fate.INCOMPATIBLE, reason=reason, columns={}, empty=(), loss=False)
        if judgement.fate is not Fate.EMPTY:
            return judgement
        if meaning.sources and all(self._begins(uid) for uid in meaning.sources | meaning.operators):
            if by_time(meaning):
                late = "its sources start at their beginning, but rows behind the savepoint's watermark are late"
                return replace(judgement, reason=f"{judgement.reason}; {late}")
            reason = "the old plan has no such state; it starts empty, as its sources start at their beginning"
            return replace(judgement, reason=reason, loss=False)
        kept = [uid for uid in sorted(meaning.operators or meaning.sources) if self._goes_on(uid)]
        if meaning.retracting and kept:
            reason = (
                "the old plan has no such state, and it cannot start empty: its input takes back rows of "
                f"{', '.join(kept)} that it would not have seen"
            )
            return replace(judgement, fate=Fate.INCOMPATIBLE, reason=reason, loss=False)
        return judgement

    def _with_siblings(self, match: _Match) -> Judgement:
        judgement = self._found[match.meaning.uid, match.meaning.name]
        others = [each for each in self._matches if each.meaning.uid == match.meaning.uid and each is not match]
        kept = [each for each in others if self._found[each.meaning.uid, each.meaning.name].goes_on]
        if judgement.fate is not Fate.EMPTY or not kept or _may_begin(match, kept):
            return judgement
        names = ", ".join(each.meaning.name for each in kept)
        reason = f"the old plan has no such state, and the operator cannot go on with {names} alone"
        return replace(judgement, fate=Fate.INCOMPATIBLE, reason=reason, loss=False)

    def _of(self, uid: str) -> list[Judgement]:
        return [each for (owner, _), each in self._found.items() if owner == uid]

    def _goes_on(self, uid: str) -> bool:
        """All that the uid has goes on; new states beside old ones may begin."""
        found = self._of(uid)
        return any(each.goes_on for each in found) and not any(each.fate is Fate.INCOMPATIBLE for each in found)

    def _begins(self, uid: str) -> bool:
        """Nothing of it has been missed."""
        return all(each.fate is Fate.EMPTY and not each.loss for each in self._of(uid))


def _may_begin(match: _Match, kept: Sequence[_Match]) -> bool:
    """Values behind accumulators that start empty, too, and behind no others."""
    if match.meaning.addable is None:
        return False
    calls = {call for column in match.meaning.columns for call in column.meaning["call"]}
    begins: set[Term] = set()
    goes_on: set[Term] = set()
    for each in kept:
        for column in each.meaning.columns:
            if column.name in (each.meaning.addable or ()):
                into = begins if column.name in each.judgement.empty else goes_on
                into.add(call_of(column.meaning))
    return bool(calls & begins) and not calls & goes_on


def _with_moves(
    found: Iterable[Judgement], dropped: Sequence[StateMeaning], after: Mapping[Address, StateMeaning]
) -> Iterator[Judgement]:
    """Say where a state that seems new has been under another uid."""
    for judgement in found:
        new = after.get((judgement.uid, judgement.state))
        if new is None or judgement.fate is not Fate.EMPTY:
            yield judgement
            continue
        same = next((each for each in dropped if each.name == new.name and judge(each, new).goes_on), None)
        if same is None:
            yield judgement
            continue
        advice = (
            f"{same.title} {MOVED}: compile the new plan from the old one "
            "(COMPILE PLAN … FROM … FOR …), so that the operator keeps its uid"
        )
        yield replace(judgement, reason=f"{judgement.reason}. {advice}")
