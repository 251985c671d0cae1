"""`rekindle upgrade`: a plan with the newest versions of its nodes."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from execnodes.core.words import counted
from rekindle.cli.arguments import AsJson


def upgrade(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="Plan file of any release.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="NEW", help="Plan file to write; OLD may not be it.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing plan file.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and write nothing.")] = False,
    as_json: AsJson = False,
) -> None:
    """Write a plan whose nodes are of their newest versions. Ids, uids and rows stay, so savepoints go on fitting."""
    from rekindle.results.plan_reference import PlanReference
    from rekindle.statements.plan_upgrade import upgrade_plan

    if output is None and not dry_run:
        raise typer.BadParameter("name the plan to write, or give --dry-run", param_hint="-o")
    if output is not None and output.resolve() == old.resolve():
        raise typer.BadParameter("this is OLD itself; a plan in use is not overwritten", param_hint="-o")
    found = upgrade_plan(PlanReference.from_file(old))
    written = None
    if output is not None and not dry_run:
        found.plan.write_to_file(output, ignore_if_exists=False, force=force)
        written = str(output)
    if as_json:
        document = {
            "engineVersion": {"from": found.engine_version, "to": found.plan.get_engine_version()},
            "changed": found.changed,
            "nodes": [asdict(each) for each in found.nodes],
            "written": written,
            "intendedChanges": [each.document() for each in found.intended_changes],
            "lostConditions": [each.document() for each in found.lost_conditions],
        }
        print(json.dumps(document, indent=2, ensure_ascii=False))
        return
    for line in found.lines():
        print(line)
    print(
        f"{written}: {counted(len(found.plan.graph.nodes), 'node')}" if written else "nothing written", file=sys.stderr
    )
