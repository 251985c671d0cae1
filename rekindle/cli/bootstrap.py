"""`rekindle bootstrap`: gives new operators of a changed query their state, from what the sources have given so far."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rekindle.cli.arguments import InitFile, Options
from rekindle.cli.inputs import parse_options, read_script, reading


def bootstrap(
    plan: Annotated[Path, typer.Argument(metavar="PLAN", help="Plan that is to go on from the savepoint.")],
    uids: Annotated[list[str], typer.Argument(metavar="UID...", help="Operators whose state is to be made.")],
    savepoint: Annotated[Path, typer.Option("--savepoint", "-s", metavar="DIR", help="Where PLAN is to go on.")],
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Folder of the new savepoint.")],
    init: InitFile = None,
    options: Options = None,
) -> None:
    """Read the sources up to the savepoint's positions once more, and write a savepoint with the operators' states."""
    first = read_script(init) if init else None
    from rekindle.api.table_environment import TableEnvironment
    from rekindle.runtime.bootstrap import bootstrap as make
    from rekindle.savepoints.contents import read

    environment = TableEnvironment.create(parse_options(options or []))
    if first is not None:
        with reading(first):
            environment.execute_script(first.text)
    graph = environment.resolved(environment.load_plan(plan))
    made = make(savepoint, graph, uids, to, environment.configuration, environment.spark)
    known = len(read(savepoint).history)
    for step in made.history[known:]:
        print(step)
    print(f"{to}: rekindle run {plan} -s {to}")
