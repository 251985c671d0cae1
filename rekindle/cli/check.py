"""`rekindle check`: says what would become of a pipeline's state in another plan, before anything runs."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rekindle.cli.arguments import AsJson, AsMarkdown, only_one

if TYPE_CHECKING:
    from rekindle.report.checked import Checked


def check(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="Plan that runs now.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Plan that is to go on with its state.")],
    savepoint: Annotated[
        Path | None,
        typer.Option("--savepoint", "-s", metavar="DIR", help="What the state is; OLD may then be newer or older."),
    ] = None,
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Say for each state whether NEW keeps it. Exit code 0 full, 3 incompatible, 4 partial, 5 unknown."""
    only_one(as_json=as_json, as_markdown=as_markdown)
    from rekindle.compiled_plan import CompiledPlan
    from rekindle.report.checked import EXIT_CODES, checked

    before, after = ((str(path), CompiledPlan.from_file(path).graph) for path in (old, new))
    if old.resolve() == new.resolve():
        print(f"{old} is compared with itself", file=sys.stderr)
    found = checked(before, after, savepoint)
    show(found, as_json=as_json, as_markdown=as_markdown)
    raise typer.Exit(EXIT_CODES[found.verdict])


def show(found: Checked, *, as_json: bool, as_markdown: bool) -> None:
    """Print what was found in the form that is asked for."""
    from rekindle.report.documents import checked_document
    from rekindle.report.markdown import checked_markdown
    from rekindle.report.texts import checked_lines, print_checked

    if as_json:
        print(json.dumps(checked_document(found), indent=2, ensure_ascii=False))
    elif as_markdown:
        print(checked_markdown(found), end="")
    elif sys.stdout.isatty():
        print_checked(found)
    else:
        print("\n".join(checked_lines(found)))
