"""The states of several operators become those of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from execnodes.core.errors import StateError
from execnodes.terms.term import Term, leaf, said
from rekindle.savepoints.manifest import SavedState
from rekindle.savepoints.migrations.rename import check_uid
from rekindle.savepoints.migrations.split import ROWS, half_of
from rekindle.savepoints.verify import common_key
from rekindle.savepoints.workspace import Draft, Workspace

_ABSENT = leaf("nothing", "")


def merge(work: Workspace, uids: Sequence[str], target: str) -> None:
    """Put rows together, state by state; schemas must be equal, and no key may have rows in two of the operators."""
    check_uid(target)
    if len(set(uids)) != len(uids) or len(uids) < 2:
        raise StateError("a merge needs two or more different uids", where=target)
    operators = [work.of(uid) for uid in uids]
    if target not in uids and any(uid == target for uid, _ in work.drafts):
        raise StateError(f"there is an operator {target} already", hint="Merge it, too, or give a new uid.")
    names = [sorted(each.state.name for each in drafts) for drafts in operators]
    if any(each != names[0] for each in names):
        told = "; ".join(f"{uid}: {', '.join(each)}" for uid, each in zip(uids, names, strict=True))
        raise StateError(f"the operators have different states: {told}", where=target)
    merged = [_merged(work, target, [work.drafts[uid, name] for uid in uids]) for name in names[0]]
    for drafts in operators:
        for each in drafts:
            del work.drafts[each.state.uid, each.state.name]
    for each in merged:
        work.put(each)


def _merged(work: Workspace, target: str, drafts: Sequence[Draft]) -> Draft:
    first, *others = (each.state for each in drafts)
    for other in others:
        _check_alike(first, other)
    for one, another in combinations(drafts, 2):
        key = common_key(work.connection, first, one.rows, another.rows)
        if key is not None:
            raise StateError(
                f"both {one.state.title} and {another.state.title} have rows of the key {key}",
                hint="Drop or transform the rows of one of them before.",
            )
    state = replace(
        first,
        uid=target,
        parts=_joined(drafts),
        meanings=tuple(map(_together, zip(*(each.state.meanings for each in drafts), strict=True))),
        sources=tuple(sorted({uid for each in drafts for uid in each.state.sources})),
    )
    rows = sum(each.state.rows for each in drafts)
    before = Draft(replace(state, rows=rows), ())
    with work.step("merge", before, f"from {', '.join(each.state.uid for each in drafts)}") as after:
        after.append(work.write(state, " UNION ALL ".join(each.rows for each in drafts)))
    return after[0]


def _check_alike(one: SavedState, other: SavedState) -> None:
    differing = [
        what
        for what, mine, theirs in (
            ("columns", one.schema, other.schema),
            ("keys", one.key, other.key),
            ("buckets", one.bucketed, other.bucketed),
            ("TTLs", one.ttl_ms, other.ttl_ms),
        )
        if mine != theirs
    ]
    if differing:
        raise StateError(
            f"{one.title} and {other.title} have different {', '.join(differing)}",
            hint=f"Make them alike with --transform before.\n{_told(one)}\n{_told(other)}",
        )


def _told(state: SavedState) -> str:
    columns = ", ".join(f"{name} {t}{' key' * (name in state.key)}" for name, t in state.schema)
    return f"{state.title}: {columns}"


def _joined(drafts: Sequence[Draft]) -> Mapping[str, Term]:
    labels = dict.fromkeys(label for each in drafts for label in each.state.parts)
    found = {label: [each.state.parts.get(label, _ABSENT) for each in drafts] for label in labels}
    differing = [label for label, terms in found.items() if len(set(terms)) > 1]
    if len(differing) == 1 and differing[0].startswith(ROWS) and _halves(found[differing[0]]):
        del found[differing[0]]
    return {label: _together(terms) for label, terms in found.items()}


def _halves(terms: Sequence[Term]) -> bool:
    """Whether a split has made them of one: what it parted is whole again."""
    halves = [half for each in terms if (half := half_of(each)) is not None]
    conditions = {condition for condition, _ in halves}
    return len(terms) == len(halves) == 2 and len(conditions) == 1 and halves[0] != halves[1]


def _together(terms: Sequence[Term]) -> Term:
    """What is the same stays; different rows mean their union."""
    if len(set(terms)) == 1:
        return terms[0]
    return said("union of states", "union of ({of:) and (})", of=terms).shortened()
