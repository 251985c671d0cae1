"""`rekindle compile`: a script to a plan file. Needs no Spark and no Java."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from rekindle.cli.arguments import InitFile, Options
from rekindle.cli.inputs import parse_options, read_script, reading


def compile(
    file: Annotated[Path, typer.Option("-f", "--file", metavar="FILE", help="SQL script; - reads stdin.")],
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="PLAN", help="Plan file to write; standard output if left out."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing plan file.")] = False,
    init: InitFile = None,
    options: Options = None,
) -> None:
    """Run a script's DDL and compile its one INSERT, statement set or SELECT into a plan."""
    configuration = parse_options(options or [])
    first = read_script(init) if init else None
    script = read_script(file)
    from rekindle.table_environment import TableEnvironment

    environment = TableEnvironment.create(configuration)
    if first is not None:
        with reading(first):
            environment.execute_script(first.text)
    with reading(script):
        plan = environment.compile_script(script.text)
    if output is None or str(output) == "-":
        sys.stdout.write(plan.as_json_string())
        return
    plan.write_to_file(output, ignore_if_exists=False, force=force)
    print(f"{output}: {len(plan.graph.nodes)} nodes, engine version {plan.get_engine_version()}")
