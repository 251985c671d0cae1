"""Forgetting a state, all states of an operator, or the position of a source."""

from __future__ import annotations

from execnodes.core.errors import StateError
from plans.compatibility.plan_meanings import POSITION
from rekindle.savepoints.manifest import Step
from rekindle.savepoints.reader import chosen
from rekindle.savepoints.workspace import Workspace


def drop(work: Workspace, address: str) -> None:
    """Leave out UID or UID:NAME; a source's position has the name `position`, and the source begins anew."""
    uid = address.removesuffix(f":{POSITION}")
    is_source = uid in work.sources or uid in work.positions
    if is_source:
        work.positions.pop(uid, None)
        work.sources.pop(uid, None)
        work.note(Step("drop", uid, POSITION, 0, 0, "the source begins at its beginning"))
        if uid != address or not any(each == uid for each, _ in work.drafts):
            return
    elif uid != address:
        raise StateError(f"there is no source {uid}", hint="Sources:\n" + "\n".join(work.sources))
    for state in chosen(work.manifest, address):
        with work.step("drop", work.drafts.pop((state.uid, state.name))):
            pass
