"""Whether a term of a new plan means what one of the old plan did, but for types that hold more.

Values of the old plan, cast to the types of the new one, are then those that the new plan would have computed. Where
types were too narrow for what has been computed, or may have been, that is said (`Carried.losses`).
"""

from __future__ import annotations

import json
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import reduce
from operator import or_

from execnodes.core.types import Root
from execnodes.core.widening import Widening, widens
from execnodes.terms.forms import form
from execnodes.terms.shown import TEXT
from execnodes.terms.term import Order, Part, Term
from plans.compatibility.canonical import same
from plans.compatibility.constraints import relaxed
from plans.compatibility.term_types import function_name, is_cast, parsed, type_of, without_casts
from plans.compatibility.widened_calls import aggregated, computed, lost

_MOST = 20_000
"""Pairs that are remembered."""


@dataclass(frozen=True, slots=True)
class Carried:
    """How a meaning goes on."""

    how: Widening = Widening.NONE
    """In what its values are of wider types; more may be said than is so."""
    losses: frozenset[str] = frozenset()
    """What the narrow types have lost, which does not come back."""

    def __or__(self, other: Carried) -> Carried:
        return Carried(self.how | other.how, self.losses | other.losses)


SAME = Carried()


@dataclass(frozen=True, slots=True)
class _Pair:
    """Terms that are compared."""

    old: Term
    new: Term
    kept: bool = False
    """Whether of an aggregate call only what it keeps counts, and not its result."""

    @property
    def key(self) -> tuple[str, str, bool]:
        return self.old.digest, self.new.digest, self.kept


_Search = Generator[_Pair, Carried | None, Carried | None]
"""Asks for pairs of inner terms, is told how they go on, and ends with how its own pair does."""
_KNOWN: dict[tuple[str, str, bool], Carried | None] = {}


def carried(old: Term, new: Term) -> Carried | None:
    """How the meaning goes on; None if it is another one, or if it cannot be told."""
    if same(old, new):
        return SAME
    if len(_KNOWN) > _MOST:
        _KNOWN.clear()
    for counted in (False, True):
        found = _found(_Pair(form(old, counted=counted), form(new, counted=counted)))
        if found is not None:
            return found
    return None


def _found(pair: _Pair) -> Carried | None:
    """Searches within searches, without recursion: plans may be as deep as they like."""
    if pair.key in _KNOWN:
        return _KNOWN[pair.key]
    stack: list[tuple[_Pair, _Search]] = [(pair, _search(pair))]
    told: Carried | None = None
    while stack:
        at, search = stack[-1]
        try:
            inner = search.send(told)
        except StopIteration as end:
            told = _KNOWN[at.key] = end.value
            stack.pop()
            continue
        told = None
        if inner.key in _KNOWN:
            told = _KNOWN[inner.key]
        else:
            stack.append((inner, _search(inner)))
    return told


def _search(pair: _Pair) -> _Search:
    old, new = pair.old, pair.new
    if old == new:
        return SAME
    found = yield from _alike(pair)
    inside = _Pair(without_casts(old), without_casts(new), pair.kept)
    if found is None and inside.key != pair.key:
        found = _retyped(pair, (yield inside))
    if found is None and is_cast(new) and type_of(old) == type_of(new) is not None:
        # It is of a wider type now, and cast back to what it was.
        below = yield _Pair(old, new["operand"][0], pair.kept)
        return below and Carried(losses=below.losses)
    return found


def _retyped(pair: _Pair, found: Carried | None) -> Carried | None:
    """What is found below CASTs, of values of the types that these have made."""
    before, after = type_of(pair.old), type_of(pair.new)
    how = None if found is None or before is None or after is None else widens(before, after)
    if found is None or how is None:
        return None
    return Carried(how, found.losses | frozenset(lost(found.how & ~how)))


def _alike(pair: _Pair) -> _Search:
    """Terms of one kind whose parts go on."""
    old, new = pair.old, pair.new
    roles = [each.role for each in old.parts]
    if {old.kind, new.kind} == {"columns", "all"}:
        # A sink's rows, told apart by a key of theirs or by all of them: the same ones are there in the same order.
        return SAME
    if old.kind != new.kind or TEXT in (old.kind, new.kind) or roles != [each.role for each in new.parts]:
        return None
    if not roles:
        return _leaf(old, new)
    if old.kind == "literal":
        return _literal(old, new)
    found: dict[str, Carried] = {}
    for one, other in zip(old.parts, new.parts, strict=True):
        kept = pair.kept if old.kind == "over call" else one.role == "call" and old.kind != "over"
        part = yield from _part(one, other, kept)
        if part is None:
            return None
        found[one.role] = part
    return _whole(pair, found)


def _part(one: Part, other: Part, kept: bool) -> _Search:
    """All terms of a role, each with one of the other plan."""
    if one.order is not other.order or len(one.terms) != len(other.terms):
        return None
    whole, left = SAME, list(other.terms)
    if one.order is Order.LIST:
        for pair in zip(one.terms, left, strict=True):
            found = yield _Pair(*pair, kept)
            if found is None:
                return None
            whole |= found
        return whole
    changed = []
    for term in one.terms:
        if term in left:
            left.remove(term)
        else:
            changed.append(term)
    for term in changed:
        for candidate in left:
            found = yield _Pair(term, candidate, kept)
            if found is not None:
                whole |= found
                left.remove(candidate)
                break
        else:
            return None
    return whole


def _whole(pair: _Pair, parts: Mapping[str, Carried]) -> Carried | None:
    """A term whose parts go on so."""
    old, new = pair.old, pair.new
    whole = reduce(or_, parts.values())
    match old.kind:
        case "call" if function_name(old) != "CURRENT_WATERMARK":
            result = computed(old, new, parts["operand"].how)
        case "aggregate":
            result = aggregated(old, new, parts["argument"].how, result=not pair.kept)
        case "field":
            before, after = type_of(old), type_of(new)
            how = whole.how if before is None or after is None else widens(before, after)
            result = None if how is None else (how, frozenset[str]())
        case "value":
            result = parts["value"].how, frozenset[str]()
        case "position" | "occurrences" | "members":
            result = Widening.NONE, frozenset[str]()
        case "member":
            # Only its own column would tell whether fields of it are new.
            result = whole.how & ~(Widening.FIELDS | Widening.ADDED), frozenset[str]()
        case _:
            # Rows, and values that are those of one of their parts.
            return whole
    return None if result is None else Carried(result[0], whole.losses | result[1])


def _leaf(old: Term, new: Term) -> Carried | None:
    how = None
    if old.kind == "type":
        how = widens(parsed(old), parsed(new))
    elif old.kind == "constraints":
        losses = relaxed(old.says, new.says)
        return None if losses is None else Carried(losses=losses)
    return None if how is None else Carried(how)


def _literal(old: Term, new: Term) -> Carried | None:
    """The same value: of a number that may be written otherwise."""
    before, after = parsed(old["type"][0]), parsed(new["type"][0])
    how = widens(before, after)
    one, other = (json.loads(each["value"][0].says) for each in (old, new))
    equal = one == other
    if not equal and before.root is after.root is Root.DECIMAL:
        equal = None not in (one, other) and Decimal(str(one)) == Decimal(str(other))
    return Carried(how) if equal and how is not None else None
