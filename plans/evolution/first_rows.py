"""Whether first rows of a plan wait for the watermark, which decides how a plan that goes on from it treats them."""

from __future__ import annotations

from execnodes.core.graph import ExecGraph
from execnodes.stream.deduplicate import Deduplicate


def first_rows_wait(plan: ExecGraph) -> bool:
    """Whether it has first rows by event time that are never changed, be it of a release that knew no others.

    In a plan that is compiled from it they wait, too: state above such rows does not know how to take them back.
    """
    return any(Deduplicate.waits(each) for each in plan.nodes)
