"""`rekindle diff`: says what two plans differ in, node by node."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from rekindle.cli.arguments import AsJson, AsMarkdown, only_one
from rekindle.cli.terminal import coloured


def diff(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="Plan file.")],
    new: Annotated[Path, typer.Argument(metavar="NEW", help="Plan file.")],
    as_json: AsJson = False,
    as_markdown: AsMarkdown = False,
) -> None:
    """Show which nodes, properties, options and edges two plans differ in. `check` says what that does to state."""
    only_one(as_json=as_json, as_markdown=as_markdown)
    from plans.evolution.diff import difference
    from rekindle.report.documents import difference_document
    from rekindle.report.markdown import difference_markdown
    from rekindle.report.texts import difference_lines, print_difference
    from rekindle.results.compiled_plan import CompiledPlan

    found = difference(*(CompiledPlan.from_file(path).graph for path in (old, new)))
    if as_json:
        print(json.dumps(difference_document(found), indent=2, ensure_ascii=False))
    elif as_markdown:
        print(difference_markdown(str(old), str(new), found), end="")
    elif sys.stdout.isatty():
        print_difference(found, coloured(sys.stdout))
    else:
        print("\n".join(difference_lines(found)))
