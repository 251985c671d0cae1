"""`rekindle doctor`: says whether this machine has what Rekindle needs."""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from rekindle.cli.arguments import AsJson


def doctor(
    as_json: AsJson = False,
    job_dir: Annotated[Path | None, typer.Option("--job-dir", metavar="DIR", help="Also check this folder.")] = None,
    no_spark: Annotated[bool, typer.Option("--no-spark", help="Do not start Spark.")] = False,
    archive_classes: Annotated[
        bool, typer.Option("--archive-classes", help="Keep Java's classes in an archive (150 MB) for faster starts.")
    ] = False,
) -> None:
    """Check Java, Python, packages, disk and memory, and start Spark once. Exit code 1 if something is missing."""
    from rekindle.doctor import check, make_class_archive

    findings = check(job_dir, start_spark=not no_spark)
    if archive_classes:
        findings.append(make_class_archive(os.environ))
    if as_json:
        print(json.dumps([asdict(finding) for finding in findings], indent=2, ensure_ascii=False))
    else:
        width = max(len(finding.name) for finding in findings)
        for finding in findings:
            print(f"{'ok  ' if finding.ok else 'FAIL'} {finding.name:{width}}  {finding.detail}")
            if finding.remedy:
                print(f"     {finding.remedy}")
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)
