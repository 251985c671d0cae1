"""The plan that a savepoint was taken from."""

from __future__ import annotations

import logging
from pathlib import Path

from execnodes.core.errors import PlanError
from execnodes.core.graph import ExecGraph
from plans.format.load import load
from rekindle.savepoints.manifest import PLAN

_log = logging.getLogger("rekindle.savepoints")


def saved_plan(folder: Path) -> ExecGraph | None:
    """The plan the savepoint was taken from; None if this engine no longer reads it, as its states are described."""
    try:
        return load((folder / PLAN).read_text(encoding="utf-8"))
    except PlanError as error:
        _log.warning("%s: its plan is not read, so its states are what they are said to be: %s", folder, error)
        return None
