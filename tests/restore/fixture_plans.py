"""Whether a fixture holds the plan that its SQL compiles to; see `difference`."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path

from execnodes.core.version import version_tuple
from rekindle.testing.restore_fixtures import PLAN
from rekindle.testing.restore_run import compiled
from releases import Release
from tests.restore.program import RestoreProgram


def difference(program: RestoreProgram, folder: Path, released: Collection[Release]) -> str:
    """How today's plan differs from the fixture's; empty if only node versions are new that no release up to then had.

    `folder`: where its tables would lie. A release with the node versions that a fixture of its time lacks could
    not have written that fixture.
    """
    now = json.loads(compiled(program, folder).plan.as_json_string())
    then = json.loads((program.fixture / PLAN).read_text(encoding="utf-8"))
    engine = version_tuple(then["engineVersion"])
    known = {key for each in released if version_tuple(each.engine_version) <= engine for key in each.nodes}
    types, before = ({node["type"] for node in plan["nodes"]} for plan in (now, then))
    again = f"remove {program.fixture} and run make fixtures NODE={program.node}"
    if missed := (types - before) & known:
        return f"{program} was written before {', '.join(sorted(missed))} of the same release: {again}"
    # Places of the SQL and options of the job stand beside the nodes; which there are is no part of what a plan is.
    frame = {name: now[name] for name in ("$schema", "engineVersion", "configuration", "places") if name in now}
    return f"{program} compiles to another plan: {again}" if types == before and now != {**then, **frame} else ""
