"""Other uids for operators and sources: their states then belong to other nodes of a plan."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath

from execnodes.core.errors import StateError
from plans.meaning import POSITION
from rekindle.savepoints.manifest import Step
from rekindle.savepoints.workspace import Draft, Workspace


def rename(work: Workspace, uids: Mapping[str, str]) -> None:
    """Give operators and sources other uids, all at once, so that two may swap theirs."""
    operators = dict.fromkeys(uid for uid, _ in work.drafts)
    known = dict.fromkeys([*work.sources, *work.positions, *operators])
    for old, new in uids.items():
        if old not in known:
            listed = "\n".join(known) or "There is none."
            raise StateError(f"the savepoint has no uid {old}", hint=f"Uids:\n{listed}")
        check_uid(new)
    taken = Counter(uids.get(each, each) for each in known)
    for new, count in taken.items():
        if count > 1:
            raise StateError(f"two operators would have the uid {new}", hint="Use --merge to join their states.")
    before, work.drafts = work.drafts, {}
    for old, new in uids.items():
        if old in work.sources or old in work.positions:
            work.note(Step("rename", new, POSITION, 0, 0, f"from {old}"))
    work.sources = {uids.get(uid, uid): each for uid, each in work.sources.items()}
    work.positions = {uids.get(uid, uid): each for uid, each in work.positions.items()}
    for (uid, _), draft in before.items():
        sources = tuple(sorted(uids.get(each, each) for each in draft.state.sources))
        renamed = Draft(replace(draft.state, uid=uids.get(uid, uid), sources=sources), draft.files)
        work.put(renamed)
        if uid in uids:
            with work.step("rename", draft, f"from {uid}") as after:
                after.append(renamed)


def check_uid(uid: str) -> None:
    """StateError for what cannot name an operator: its folder is called like it."""
    if not uid or uid.startswith(".") or PurePosixPath(uid).name != uid or ":" in uid:
        raise StateError(f"{uid!r} is no uid", hint="A uid looks like 4_group-aggregate.")
