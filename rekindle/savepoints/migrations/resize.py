"""Another maximum parallelism: in how many key groups the plan's operators keep their rows."""

from __future__ import annotations

import time
from dataclasses import replace

from execnodes.core.errors import StateError
from plans.format.codec import encode
from plans.format.document import MAX_PARALLELISM
from plans.format.load import load
from rekindle.savepoints.manifest import PLAN, Step
from rekindle.savepoints.reader import skew
from rekindle.savepoints.workspace import Draft, Workspace


def resize(work: Workspace, groups: int) -> None:
    """Set it in the savepoint's plan and its states; rows stay as they are, since a savepoint holds no key groups."""
    if not 1 <= groups <= MAX_PARALLELISM:
        raise StateError(f"the maximum parallelism {groups} is not between 1 and {MAX_PARALLELISM}")
    graph = load(work.plan, source=PLAN)
    work.plan = encode(replace(graph, max_parallelism=groups))
    for draft in list(work.drafts.values()):
        begun = time.monotonic()
        spread = skew(work.connection, draft.state, draft.rows, groups)
        detail = (
            f"max parallelism {draft.state.max_parallelism} -> {groups}, now {spread.smallest:,} to "
            f"{spread.largest:,} rows a key group"
        )
        work.put(Draft(replace(draft.state, max_parallelism=groups), draft.files))
        state = draft.state
        work.note(Step("repartition", state.uid, state.name, state.rows, state.rows, detail), time.monotonic() - begun)
