"""`rekindle report`: one HTML file about an upgrade, or about one plan."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from execnodes.core.secrets import masked
from execnodes.core.words import counted
from rekindle.cli.arguments import Bootstrap, Map
from rekindle.cli.inputs import read_script


def report(
    old: Annotated[Path, typer.Argument(metavar="OLD", help="Plan that runs now; alone, the plan to report on.")],
    new: Annotated[Path | None, typer.Argument(metavar="[NEW]", help="Plan that is to go on with its state.")] = None,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="HTML file to write.")] = Path(
        "report.html"
    ),
    savepoint: Annotated[
        Path | None, typer.Option("--savepoint", "-s", metavar="DIR", help="What the state is: also rows and bytes.")
    ] = None,
    bootstrap: Bootstrap = None,
    moves: Map = None,
    old_sql: Annotated[Path | None, typer.Option("--old-sql", metavar="FILE", help="Script of OLD.")] = None,
    new_sql: Annotated[Path | None, typer.Option("--new-sql", metavar="FILE", help="Script of NEW.")] = None,
) -> None:
    """Write what an upgrade does to state, both plans as one graph and what to run next into one HTML file."""
    if new is None and (savepoint or new_sql or bootstrap):
        raise typer.BadParameter(
            "a report on one plan takes none of --savepoint, --bootstrap and --new-sql", param_hint="NEW"
        )
    if new is not None and (old_sql is None) != (new_sql is None):
        raise typer.BadParameter("give the scripts of both plans, or none", param_hint="--old-sql and --new-sql")
    scripts = [masked(read_script(path).text) for path in (old_sql, new_sql) if path is not None]
    from rekindle.report.checked import checked
    from rekindle.report.html.page import plan_page, upgrade_page
    from rekindle.results.compiled_plan import CompiledPlan
    from rekindle.statements.evolution import parse_moves

    before = CompiledPlan.from_file(old).graph
    if new is None:
        _write(output, plan_page(str(old), before, "".join(scripts)))
        print(f"{output}: {counted(len(before.nodes), 'node')}")
        return
    after = CompiledPlan.from_file(new).graph
    given = parse_moves(",".join(moves or []))
    found = checked((str(old), before), (str(new), after), savepoint, bootstrap or [], given)
    _write(output, upgrade_page(found, before, after, (scripts[0], scripts[1]) if scripts else None))
    print(f"{output}: {found.verdict}")


def _write(file: Path, text: str) -> None:
    from execnodes.core.errors import RekindleError
    from rekindle.files.atomic_file import write_atomically

    try:
        write_atomically(file.absolute(), text, replace=True)
    except OSError as error:
        hint = "Check the path and its permissions."
        raise RekindleError(f"the report cannot be written: {error.strerror}", where=str(file), hint=hint) from None
