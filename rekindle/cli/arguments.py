"""Options that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Options = Annotated[
    list[str] | None,
    typer.Option("-D", metavar="KEY=VALUE", help="Set a configuration option; may be given several times."),
]
ScriptFile = Annotated[Path | None, typer.Option("-f", "--file", metavar="FILE", help="SQL script; - reads stdin.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON, for programs.")]
InitFile = Annotated[
    Path | None, typer.Option("-i", "--init", metavar="FILE", help="SQL script (DDL, SET) that is run before.")
]
JobName = Annotated[
    str, typer.Argument(metavar="JOB", help="Id of a job, the beginning of one, the job's name, or its folder.")
]
