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
AsMarkdown = Annotated[bool, typer.Option("--markdown", help="Print Markdown, for pull requests.")]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map", metavar="OLD=NEW", help="A table's old name and its new one, or the places it has moved from and to."
    ),
]
Bootstrap = Annotated[
    list[str] | None,
    typer.Option(
        "--bootstrap", metavar="UID", help="Operator that gets its state from the sources (rekindle bootstrap)."
    ),
]
InitFile = Annotated[
    Path | None, typer.Option("-i", "--init", metavar="FILE", help="SQL script (DDL, SET) that is run before.")
]
JobName = Annotated[
    str, typer.Argument(metavar="JOB", help="Id of a job, the beginning of one, the job's name, or its folder.")
]


def only_one(**given: bool) -> None:
    """A usage error if more than one form of output is asked for."""
    wanted = ["--" + name.removeprefix("as_") for name, value in given.items() if value]
    if len(wanted) > 1:
        raise typer.BadParameter("give only one of them", param_hint=" and ".join(wanted))
