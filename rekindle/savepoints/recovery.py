"""Which savepoint a job starts from: the one it was given, or the one its folder has not got beyond yet."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING

from execnodes.core.errors import StateError
from execnodes.core.options import CONSENT, Configuration
from rekindle.files.atomic_file import write_atomically
from rekindle.savepoints.restore import Restore, prepare

if TYPE_CHECKING:
    from execnodes.core.graph import ExecGraph
    from rekindle.files.job_folder import JobFolder

PATH = "execution.state-recovery.path"
UNCLAIMED = "execution.state-recovery.ignore-unclaimed-state"
DROP = "execution.state-recovery.drop"


def recover(folder: JobFolder, configuration: Configuration, graph: ExecGraph) -> Restore | None:
    """The savepoint whose rows the checkpoint still lacks; None if there is none. StateError if it does not fit.

    The choice is kept in the folder: until the first micro-batch is committed a crash begins with the savepoint again.
    """
    known = folder.restored()
    asked = configuration.get_option(PATH)
    if folder.committed_batch() is not None:
        if asked and str(Path(asked).absolute()) != known.get("savepoint"):
            raise StateError(
                "the job folder has begun already, and not from this savepoint",
                where=str(folder.path),
                hint="Give a new --job-dir to start from a savepoint, or leave the savepoint out to go on.",
            )
        return None
    given = asked or known.get("savepoint")
    if not given:
        return None
    anew = bool(asked) or not known
    dropped = configuration.get_option(DROP) if anew else known["drop"]
    unclaimed = configuration.flag(UNCLAIMED) if anew else known["unclaimed"]
    consent = configuration.get_option(CONSENT) if anew else known.get("consent", "await_approval")
    names = frozenset(each.strip() for each in dropped.split(",") if each.strip())
    restore = prepare(Path(given), graph, drop_unclaimed=unclaimed, drop=names, consent=consent)
    memory = {
        "savepoint": str(restore.folder), "drop": dropped, "unclaimed": unclaimed, "consent": consent,
        "watermark": restore.manifest.watermark, "positions": restore.positions,
        "history": [asdict(each) for each in restore.history],
    }  # fmt: skip
    write_atomically(folder.restored_file, json.dumps(memory, indent=2) + "\n", replace=True)
    return replace(restore, scratch=folder.path / "converted")
