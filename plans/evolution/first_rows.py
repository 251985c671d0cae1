"""Whether first rows of a plan wait for the watermark, which decides how a plan that goes on from it treats them."""

from __future__ import annotations

from execnodes.core.graph import ExecGraph
from execnodes.stream.deduplicate.v2 import Deduplicate


def first_rows_wait(plan: ExecGraph) -> bool:
    """Whether it has first rows by event time that are never changed, be it of a release that knew no others.

    In a plan that is compiled from it they wait, too: state above such rows does not know how to take them back.
    """
    found = (each for each in plan.nodes if isinstance(each, Deduplicate) and each.is_rowtime)
    return any(each.changelog_mode.insert_only for each in found)
