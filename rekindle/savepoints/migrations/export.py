"""Rows of a state in a file of others."""

from __future__ import annotations

from pathlib import Path

from rekindle.savepoints.exchange import check_new_file, write_file
from rekindle.savepoints.workspace import Workspace


def export(work: Workspace, address: str, target: Path) -> None:
    """Write the rows as they are now into a new file; nothing is written in a rehearsal."""
    check_new_file(target)
    draft = work.draft(address)
    with work.step("export", draft, f"to {target}") as after:
        after.append(draft)
        if not work.rehearsal:
            write_file(work.connection, draft.rows, target)
