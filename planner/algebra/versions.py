"""Versions of rows, which a temporal join finds by their time: what an operator gives of them must be each, one by one.

An operator that updates its rows says once a micro-batch how these are now; versions in between would be missing. So
the join itself takes the rows of which the newest ones are kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from execnodes.core.expressions import InputRef
from planner.algebra.deduplicate import Deduplicate
from planner.algebra.normalize import Normalize
from planner.algebra.project import Project
from planner.algebra.relation import Logical, over
from planner.algebra.scan import Scan
from planner.algebra.watermark_assigner import WatermarkAssigner


@dataclass(frozen=True)
class Versions:
    """Each row is a version of its key from its time on."""

    rows: Logical
    keys: frozenset[int] | None = None
    """If they are the newest rows by time of these columns: one that comes behind a newer one is none."""


def find_versions(node: Logical, time: int) -> Versions | None:
    """Those that the right side of a temporal join gives, by its column `time`; None if there may be more of them.

    First rows wait for the watermark, since they are not to be replaced.
    """
    match node:
        case Project(input=below, expressions=expressions):
            valid = expressions[time]
            found = find_versions(below, valid.input_index) if isinstance(valid, InputRef) else None
            if found is None:
                return None
            places = {each.input_index: at for at, each in enumerate(expressions) if isinstance(each, InputRef)}
            keys = None if found.keys is None else frozenset(places.get(each, -1) for each in found.keys)
            return Versions(over(node, [found.rows]), keys)
        case Deduplicate(keep_last=True, time_index=index, input=below) if index == time and below.kinds.insert_only:
            return Versions(below, frozenset(node.keys))
        case Deduplicate(replaced=True):
            return Versions(replace(node, replaced=False))
        case Normalize(condition=None, input=below):
            return Versions(below)
        case Scan() | WatermarkAssigner(input=Scan() | Project(input=Scan())):
            return Versions(node)
        case _:
            # Whatever only adds rows gives each of them.
            return Versions(node) if node.kinds.insert_only else None
