"""`rekindle state import` and `edit`: rows of a savepoint changed, in a new savepoint."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rekindle.cli.arguments import AsJson
from rekindle.cli.migrate import carry_out, new_savepoint

Savepoint = Annotated[Path, typer.Argument(metavar="SAVEPOINT", help="A savepoint's folder; it is only read.")]
New = Annotated[Path | None, typer.Option("--to", metavar="NEW", help="Folder of the new savepoint.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Do and check everything, but write nothing.")]
Duplicates = Annotated[bool, typer.Option("--allow-duplicate-keys", help="Keys that had one row may have several.")]


def import_rows(
    savepoint: Savepoint,
    address: Annotated[str, typer.Argument(metavar="UID:NAME", help="The state.")],
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Its rows: .parquet, .csv or .json (lines).")],
    to: New = None,
    dry_run: DryRun = False,
    allow_duplicate_keys: Duplicates = False,
    as_json: AsJson = False,
) -> None:
    """Write a new savepoint with the rows of a file in place of a state's; columns, types and keys are checked."""
    from rekindle.savepoints.writer import SavepointWriter

    target = new_savepoint(to, dry_run)
    writer = SavepointWriter.from_existing_savepoint(savepoint).with_state(address, file)
    writer.allow_duplicate_keys = allow_duplicate_keys
    carry_out(writer, target, as_json=as_json)


def edit(
    savepoint: Savepoint,
    sql: Annotated[str, typer.Option("--sql", metavar="SQL", help="UPDATE, DELETE, INSERT or MERGE statements.")],
    to: New = None,
    dry_run: DryRun = False,
    allow_duplicate_keys: Duplicates = False,
    as_json: AsJson = False,
) -> None:
    """Write a new savepoint with rows changed by SQL; tables are "UID"."NAME", and the old one stays as it is."""
    from rekindle.savepoints.writer import SavepointWriter

    target = new_savepoint(to, dry_run)
    writer = SavepointWriter.from_existing_savepoint(savepoint).edit(sql)
    writer.allow_duplicate_keys = allow_duplicate_keys
    carry_out(writer, target, as_json=as_json)
