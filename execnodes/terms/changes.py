"""Which part of a term has changed: the smallest ones that differ, and the roles that lead to them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from execnodes.terms.forms import form, same
from execnodes.terms.shown import shown
from execnodes.terms.term import ROWS, Order, Term, said

Way = tuple[tuple[str, str], ...]
"""Kinds of terms and roles in them, from outside."""
_WHOLE = frozenset(
    {
        "branch",
        "call",
        "column",
        "expand",
        "field",
        "idle cast",
        "left",
        "literal",
        "output",
        "pair",
        "right",
        "union column",
        "zoned",
    }
)
"""Kinds that people see as one thing."""
_PASSED = frozenset({"call", "column", "of", "row", "value"})
"""Roles that say no more than the term they are in."""
_STEPS = 3
"""Of a longer way the beginning and the end are shown."""
_MOST = 8
"""Changes of one term that are told."""


@dataclass(frozen=True, slots=True)
class Change:
    """What has gone from a role, and what has come."""

    way: Way
    gone: tuple[Term, ...]
    come: tuple[Term, ...]

    def told(self, label: str) -> str:
        """For people; `label` says what the whole term is."""
        *before, last = [step for kind, role in self.way if (step := _step(kind, role))] or [""]
        if len(before) > _STEPS:
            before = [before[0], "…", *before[1 - _STEPS :]]
        said_already = last in ("", label) or (not before and last.startswith(f"{label} "))
        names = [last or label] if said_already else [label, *before, last]
        done = "" if self.gone and self.come else " added" if self.come else " removed"
        return f"{names[0]}{': ' * (len(names) > 1)}{' > '.join(names[1:])}{done}: {self.arrow}"

    @property
    def arrow(self) -> str:
        """What has gone and what has come."""
        sides = [" and ".join(sorted(map(shown, each))) for each in (self.gone, self.come) if each]
        if len(sides) == 2 and sides[0] == sides[1]:
            sides = [" and ".join(sorted(map(_typed, each))) for each in (self.gone, self.come) if each]
        if len(sides) == 2 and sides[0] == sides[1]:
            sides = [" and ".join(sorted(one.text for one in each)) for each in (self.gone, self.come)]
        return " -> ".join(each or "nothing" for each in sides)


def _typed(term: Term) -> str:
    """With its type, if it tells one."""
    kinds = [each.says[1:-1] for each in term["type"] if each.kind == "type"]
    return " ".join([shown(term), *kinds])


def told(label: str, old: Term | None, new: Term | None, known: set[str]) -> list[str]:
    """What has changed from one term to another, for people; either may not be there.

    `known`: arrows that have been told of other terms, and need not be told again: another key is another order, too.
    """
    gone, come = (() if each is None else (each,) for each in (old, new))
    every = changes(*gone, *come) if gone and come else [Change((), gone, come)]
    fresh = [each for each in every if each.arrow not in known]
    known |= {each.arrow for each in fresh}
    found = list(dict.fromkeys(each.told(label) for each in fresh))
    return [*found[:_MOST], f"{label}: {len(found) - _MOST} more changes"] if len(found) > _MOST else found


def changes(old: Term, new: Term) -> Iterator[Change]:
    """The smallest parts that differ, outer ones first, each once; none if the terms mean the same."""
    seen: set[tuple[str, str]] = set()
    ahead: list[tuple[Way, Term, Term]] = [((), old, new)]
    while ahead:
        way, one, other = ahead.pop()
        if (one.digest, other.digest) in seen or same(one, other):
            continue
        seen.add((one.digest, other.digest))
        one, other = _filtered(one, other), _filtered(other, one)
        if one.kind != other.kind or one.kind in _WHOLE or not one.parts or not other.parts:
            yield Change(way, (one,), (other,))
            continue
        pairs: list[tuple[Way, Term, Term]] = []
        for role in dict.fromkeys(each.role for each in (*one.parts, *other.parts)):
            further = (*way, (one.kind, role))
            if role == "part" and pairs:
                # Of another call all the parts are others.
                continue
            if role == "function" and one[role] != other[role]:
                # Its arguments are not those of the other one: the calls are shown whole.
                yield Change(further, (one,), (other,))
                pairs = []
                break
            gone, come = _unmatched(one, other, role)
            if len(gone) == len(come) and (len(gone) == 1 or _listed(one, role)):
                pairs += [(further, *pair) for pair in zip(gone, come, strict=True)]
            elif gone or come:
                yield Change(further, gone, come)
        ahead += reversed(pairs)


def _filtered(term: Term, beside: Term) -> Term:
    """Rows without a filter beside rows with one."""
    if beside.kind != ROWS or term.kind == ROWS:
        return term
    return said(ROWS, beside.says, of=term, filter=frozenset())


def _unmatched(one: Term, other: Term, role: str) -> tuple[tuple[Term, ...], tuple[Term, ...]]:
    """Terms in a role that the other side does not have."""
    mine, theirs = one[role], other[role]
    if _listed(one, role) and len(mine) == len(theirs):
        differing = [pair for pair in zip(mine, theirs, strict=True) if not same(*pair)]
        return tuple(each for each, _ in differing), tuple(each for _, each in differing)
    return _without(mine, theirs), _without(theirs, mine)


def _without(mine: tuple[Term, ...], theirs: tuple[Term, ...]) -> tuple[Term, ...]:
    left = [form(each).digest for each in theirs]
    found = []
    for each in mine:
        digest = form(each).digest
        if digest in left:
            left.remove(digest)
        else:
            found.append(each)
    return tuple(found)


def _listed(term: Term, role: str) -> bool:
    return any(each.role == role and each.order is Order.LIST for each in term.parts)


def _step(kind: str, role: str) -> str:
    """As people read it: the operator that has an input, the side of a join, the role itself."""
    if role in _PASSED:
        return ""
    if role == "input":
        return kind
    return f"{kind} {role}" if role in ("left", "right") or kind == "window" else role.replace("_", " ")
