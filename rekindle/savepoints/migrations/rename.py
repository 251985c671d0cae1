"""Other uids for operators and sources: their states then belong to other nodes of a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from execnodes.core.errors import StateError
from plans.compatibility.plan_meanings import POSITION
from rekindle.savepoints.manifest import Step
from rekindle.savepoints.workspace import Draft, Workspace


def rename(work: Workspace, uids: Mapping[str, str]) -> None:
    """Give operators and sources other uids, all at once, so that two may swap theirs.

    A single state is renamed by its address: ``UID:NAME`` to ``UID:NAME``.
    """
    owners = dict.fromkeys([*work.sources, *work.positions, *(uid for uid, _ in work.drafts)])
    known = [*owners, *(each.state.title for each in work.drafts.values())]
    for old, new in uids.items():
        if old not in known:
            listed = "\n".join(known) or "There is none."
            raise StateError(f"the savepoint has no uid {old}", hint=f"Uids:\n{listed}")
        _check(old, new)
    moved = {at: _moved(draft, uids) for at, draft in work.drafts.items()}
    _check_distinct("operators would have the uid", (uids.get(uid, uid) for uid in owners))
    _check_distinct("states would be called", (each.state.title for each in moved.values()))
    for old, new in uids.items():
        if old in work.sources or old in work.positions:
            work.note(Step("rename", new, POSITION, 0, 0, f"from {old}"))
    work.sources = {uids.get(uid, uid): each for uid, each in work.sources.items()}
    work.positions = {uids.get(uid, uid): each for uid, each in work.positions.items()}
    before, work.drafts = work.drafts, {}
    for at, draft in before.items():
        work.put(moved[at])
        if moved[at].state.title != draft.state.title:
            with work.step("rename", draft, f"from {draft.state.title}") as after:
                after.append(moved[at])


def _moved(draft: Draft, uids: Mapping[str, str]) -> Draft:
    state = draft.state
    sources = tuple(sorted(uids.get(each, each) for each in state.sources))
    uid, _, name = uids.get(state.title, f"{uids.get(state.uid, state.uid)}:{state.name}").rpartition(":")
    return Draft(replace(state, uid=uid, name=name, sources=sources), draft.files)


def _check_distinct(what: str, names: Iterable[str]) -> None:
    for name, count in Counter(names).items():
        if count > 1:
            raise StateError(f"two {what} {name}", hint="Use --merge to join the states of operators.")


def _check(old: str, new: str) -> None:
    if (":" in old) != (":" in new):
        raise StateError(f"{old} and {new} are not alike", hint="Rename UID to UID, or UID:NAME to UID:NAME.")
    uid, _, name = new.rpartition(":") if ":" in new else (new, "", "name")
    check_uid(uid)
    check_uid(name)


def check_uid(uid: str) -> None:
    """StateError for what cannot name an operator: its folder is called like it."""
    if not uid or uid.startswith(".") or PurePosixPath(uid).name != uid or ":" in uid:
        raise StateError(f"{uid!r} is no uid", hint="A uid looks like 4_group-aggregate.")
