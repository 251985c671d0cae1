"""The files that a source has read are elsewhere now; without this they would be read again."""

from __future__ import annotations

import json

from execnodes.core.errors import StateError
from execnodes.core.words import counted
from plans.compatibility.plan_meanings import POSITION
from rekindle.savepoints.manifest import Step
from rekindle.savepoints.workspace import Workspace


def move(work: Workspace, old: str, new: str) -> None:
    """In positions of `filesystem` sources, name files below `old` by `new`; StateError if there is no such file."""
    before, after = (each.rstrip("/") + "/" for each in (old, new))
    moved = 0
    for uid, position in work.positions.items():
        connector = work.sources.get(uid, {}).get("connector")
        if connector is None or connector.text != "filesystem":
            continue
        paths = [str(each) for each in json.loads(position)]
        found = [each for each in paths if each.startswith(before)]
        if found:
            there = sorted({after + each.removeprefix(before) if each in found else each for each in paths})
            work.positions[uid] = json.dumps(there)
            moved += len(found)
            files = counted(len(found), "file")
            work.note(Step("move", uid, POSITION, 0, 0, f"{files} from {before} to {after}"))
    if not moved:
        raise StateError(
            f"no source has read a file below {old}", hint="`rekindle state query` shows savepoint_sources."
        )
