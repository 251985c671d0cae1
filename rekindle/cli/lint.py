"""`rekindle lint`: says everything that is wrong or odd about a plan file, without running it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from execnodes.core.words import counted
from rekindle.cli.arguments import AsJson


def lint(
    plans: Annotated[list[Path], typer.Argument(metavar="PLAN...", help="Plan files.")], as_json: AsJson = False
) -> None:
    """Check plan files. Exit code 1 if one of them cannot run."""
    from plans.format.lint import lint as check
    from rekindle.results.plan_reference import PlanReference

    findings = [finding for plan in plans for finding in check(PlanReference.from_file(plan).read(), source=str(plan))]
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False))
    else:
        for finding in findings:
            print(finding)
        errors = sum(finding.severity == "error" for finding in findings)
        print(f"{counted(errors, 'error')}, {counted(len(findings) - errors, 'warning')}")
    if any(finding.severity == "error" for finding in findings):
        raise typer.Exit(1)
